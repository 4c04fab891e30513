"""What a record means: ``tf.train.Example`` and friends, from bytes to values and back, without I/O.

One message at a time:

    wire              the protobuf wire format, decoded row by row
    varint            varints, one or an array of them
    proto             the protobuf message classes, in a private descriptor pool
    example           ``encode_example`` and ``decode_example``
    tensor            ``serialize_tensor`` and ``parse_tensor``

The types of columns and of what a caller asks for:

    dtypes  values  ragged  sparse      arrays, ``Ragged`` and ``Sparse``
    specs                               ``FixedLenFeature`` and the other feature specs

Many records at a time:

    columns/    Records → columns, decoded together with numpy
    parse/      columns → what a spec asks for
    encode/     columns → Records

This folder does not know that files exist.
"""
