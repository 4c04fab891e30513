"""The column decoder: many Examples at once, with numpy, without a loop over the records.

docs/internals/columns.md has the picture and the vocabulary. The path of a batch:

    gather, gather_sequences             the entry points: which records are decoded in which way
    outline, header_templates            the layout of one record; its headers in all the others
    same_layout, wide_layout             records with the same keys in the same order
    any_order, key_table                 records whose keys come in any order
    short_entries, long_entries          the header of an entry, checked and read
    field_walk                           hopping along length-delimited fields of any size
    sequence_maps, sequence_steps        the two maps of a SequenceExample, and the steps of a feature list
    located, values, varint_words        from where the values lie to arrays
    merge                                parts that were decoded in different ways, as one column
    tuning                               the numbers that choose between the ways

What this folder cannot decode together, it leaves to the row decoder, ``payload.wire``. Both agree on
every input.
"""
