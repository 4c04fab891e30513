"""What a record means: ``tf.train.Example`` and related messages, from bytes to values and back, without I/O.

One message at a time:

    varint         varints, one or an array of them
    wire           the protobuf wire format: the row decoder and the encoder
    similar_rows   one Example at a time, if it looks like the ones before
    recognize      tells other messages from Examples
    example        ``encode_example`` and ``decode_example``
    images         JPEG, PNG, GIF, BMP and WebP to pixels
    image_header   the format and size of an encoded image
    tensor         ``serialize_tensor`` and ``parse_tensor``
    proto          the protobuf message classes, in a descriptor pool of their own

The types of columns, and of what a caller asks for:

    dtypes         the three types that an Example can hold
    values         a caller's values as arrays and bytes, without silent loss
    exact_floats   ``floats="exact"``: no float may change
    ragged         ``Ragged``: rows of different lengths
    sparse         ``Sparse``: values at some indices
    row_index      which row of these two an integer means
    short_repr     how these two show their values
    specs          ``FixedLenFeature`` and the other feature specs
    json_values    values that JSON cannot write itself

Many records at a time:

    columns/       Records → columns, decoded together with numpy
    parse/         columns → what a spec asks for
    encode/        columns → Records

This folder does not know that files exist.
"""
