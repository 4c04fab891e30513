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

This folder knows neither files nor datasets.
"""

from __future__ import annotations

from .._missing import missing
from .adjust import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    per_image_standardization,
    random_brightness,
    random_contrast,
    random_hue,
    random_saturation,
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
from .colours import adjust_hue, adjust_saturation, grayscale_to_rgb, hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv
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
from .pixels import convert_image_dtype
from .resize import ResizeMethod, resize, resize_images

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "convert_image_dtype",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "is_jpeg",
    "pad_to_bounding_box",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
    "resize",
    "resize_image_with_crop_or_pad",
    "resize_images",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rot90",
    "transpose",
]

# The name in TensorFlow 1.
resize_image_with_crop_or_pad = resize_with_crop_or_pad

__getattr__ = missing("image")


def __dir__() -> list[str]:
    return sorted(__all__)
