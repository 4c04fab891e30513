"""Inspecting: what is in the files.

    ends                ``head`` and ``tail``: the first and the last records
    count               ``count``: how many records there are
    schema              ``schema``: specs that fit the records
    stats               ``stats``: statistics of all features of many files
    stats_text          statistics as text
    stats_page          statistics as HTML
    usage               ``du``: the bytes that each feature takes
    example_statistics  the statistics of all features of Examples, batch by batch
    feature_statistics  those of one feature, column by column
    number_statistics   those of numbers, array by array
    exact_sums          sums and squares without rounding
    frequencies         how often each value occurs, up to a number of values
    key_histogram       how numbers are distributed, in bounded memory
    content             pictures, sounds and text, told by how they begin
    wire_sizes          the bytes that a feature takes in records
    summary_json        summaries as JSON

The path of ``stats``: a file → batches of records → columns → ``ExampleStatistics``, which are merged →
``Stats``.
"""
