"""``tf.image``: the functions of input pipelines for images.

An image is ``[height, width, channels]``; most functions also take batches of images. As in TensorFlow,
integers stand for their whole range and floats for 0 to 1. The random functions draw from ``tf.random``.

    pixels             ``convert_image_dtype``: the same image in another dtype
    gif, bmp           GIF and BMP files to pixels, by TensorFlow's rules
    codecs             JPEG, PNG, GIF and BMP files to pixels and back, by Pillow
    resize             ``resize`` with the arithmetic of TensorFlow's kernels
    crop_and_pad       ``crop_to_bounding_box``, ``resize_with_pad``, ``random_crop``, ...
    flip_and_rotate    ``flip_left_right``, ``rot90``, ``transpose``, ...
    colours            colour spaces: grey, and hue, saturation and value
    adjust             ``adjust_brightness``, ``random_contrast``, ``per_image_standardization``, ...
    stateless          ``stateless_random_crop`` and so on
    boxes              ``sample_distorted_bounding_box``, ``crop_and_resize``, ``draw_bounding_boxes``, ...
    measure            ``psnr``, ``total_variation``, ``sobel_edges``, ``extract_patches``, ...

This folder knows neither files nor datasets.
"""

from __future__ import annotations

from .._missing import missing
from .adjust import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_jpeg_quality,
    per_image_standardization,
    random_brightness,
    random_contrast,
    random_hue,
    random_jpeg_quality,
    random_saturation,
)
from .boxes import (
    crop_and_resize,
    draw_bounding_boxes,
    non_max_suppression,
    sample_distorted_bounding_box,
    stateless_sample_distorted_bounding_box,
)
from .codecs import (
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from .colours import (
    adjust_hue,
    adjust_saturation,
    grayscale_to_rgb,
    hsv_to_rgb,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from .crop_and_pad import (
    central_crop,
    crop_to_bounding_box,
    decode_and_crop_jpeg,
    pad_to_bounding_box,
    random_crop,
    resize_with_crop_or_pad,
    resize_with_pad,
)
from .flip_and_rotate import (
    flip_left_right,
    flip_up_down,
    random_flip_left_right,
    random_flip_up_down,
    rot90,
    transpose,
)
from .measure import (
    extract_image_patches,
    extract_patches,
    image_gradients,
    psnr,
    sobel_edges,
    total_variation,
)
from .pixels import convert_image_dtype
from .resize import (
    ResizeMethod,
    resize,
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_images,
    resize_nearest_neighbor,
)
from .stateless import (
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_jpeg_quality,
    stateless_random_saturation,
)

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_jpeg_quality",
    "adjust_saturation",
    "central_crop",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "draw_bounding_boxes",
    "encode_jpeg",
    "encode_png",
    "extract_image_patches",
    "extract_jpeg_shape",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
    "is_jpeg",
    "non_max_suppression",
    "pad_to_bounding_box",
    "per_image_standardization",
    "psnr",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_crop_or_pad",
    "resize_images",
    "resize_nearest_neighbor",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sample_distorted_bounding_box",
    "sobel_edges",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_jpeg_quality",
    "stateless_random_saturation",
    "stateless_sample_distorted_bounding_box",
    "total_variation",
    "transpose",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

# The name in TensorFlow 1.
resize_image_with_crop_or_pad = resize_with_crop_or_pad

__getattr__ = missing("image")


def __dir__() -> list[str]:
    return sorted(__all__)
