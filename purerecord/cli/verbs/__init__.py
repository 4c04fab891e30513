"""The families of commands that stand on ``purerecord.tools`` and ``purerecord.view``.

``NAME_arguments`` defines the options of a family, ``NAME`` runs its commands. Definitions import nothing
that is slow to import.

    inspect_arguments, inspect     head, tail, count, schema, stats, du
    convert_arguments, convert     other formats to TFRecords, and back
    rewrite_arguments, rewrite     reshard, merge, compress, select, sample, split, shuffle, sort, dedup, diff
    streams                        stdin and stdout of these
    view_arguments, view           a local page that shows the files
"""
