"""The column encoder: columns → the ``Records`` of Examples, without a loop over the records.

examples         ``encode_examples``: computes all sizes, then writes column after column into one buffer
sequences        ``encode_sequences``: the same for SequenceExamples
cells            a caller's column as ``Cells``: flat values, and how many of them each record has
short_entry      writes entries with short content and a header of fixed size
general_entry    writes all other entries

An *entry* is one feature in one record: an element of the map in the message Features. This folder does
not know files.
"""
