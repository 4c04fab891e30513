"""The column decoder: many Examples at once, with numpy, without a loop over the records.

docs/internals/columns.md has the picture, the vocabulary and the invariants. The path of a batch:

    gather, gather_sequences             the entry points: which records take which path
    block_decoder                        what both share: the remaining records, the row decoder
    outline, header_templates            the entries of a sample record; their headers as templates
    same_layout, wide_layout             records with the same keys in the same order
    any_order, key_table                 records whose keys come in any order
    short_entries, long_entries          what an entry holds, once its place is known
    field_walk                           reads length-delimited fields, and walks along lists of them
    sequence_maps, sequence_steps        the two maps of a SequenceExample, and the steps of a feature list
    located, values, varint_words        from where the values are to arrays
    merge                                parts that took different paths, as one column
    arrays, tuning                       the array types; the numbers and switches that choose between paths

Records that this folder cannot decode together take the row decoder, ``payload.wire``. Both agree on every
input.
"""
