"""The column encoder: columns → the ``Records`` of Examples, without a loop over the records.

examples         ``encode_examples``: sizes first, then every entry is written into one buffer
cells            a column as the caller gives it, as values and their count in each record
short_entry      entries whose lengths all take one byte
general_entry    all other entries
"""
