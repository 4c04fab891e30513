"""Columns → what a spec asks for: TensorFlow's parse functions.

examples           ``parse_example``, ``parse_single_example``, ``decode_examples``
rows               many Examples parsed together, handed out one by one
announced          which payloads a function is about to get one by one
sequences          ``parse_sequence_example``, ``parse_single_sequence_example``
checked_columns    the columns of a batch, and errors that name the record at fault
dense_sparse       fixed-length, variable-length and sparse features
partitions         ragged features with partitions
chosen_columns     which columns ``text=`` and ``bytes_columns=`` choose
text               ``text=``: strings as ``str``
decode             ``decode=``: columns of images as pixels
schema             ``infer_schema``, and specs as JSON
schema_pbtxt       specs as ``schema.pbtxt``, the schema of TensorFlow Metadata
"""
