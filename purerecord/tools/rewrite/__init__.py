"""Rewriting: TFRecords to other TFRecords, in shards that appear when all are complete.

What all commands share, in the order in which a rewrite passes through it:

    how             the keywords that all of them take
    inputs          the files that are read: what they are, and their records from any one on
    outputs         the names of the new shards, and how many there are
    work_folder     where a run keeps what it has done, so that a killed one can go on
    tasks           runs tasks in worker processes: the one place that knows of these
    mapping         one file to one, record by record
    shards          writes the records of a shard, and reads them back
    publish         gives the shards their names, all at the end
    engine          ``Rewrite``: one run, from the inputs to the new names
    report          ``Rewritten``: what came of it

    record_keys     numbers that stand for records: random ones, digests

    sort_keys       what records are ordered by
    sorted_runs     as many records as memory holds, sorted and written
    external_sort   the runs, range of keys by range of keys, as one source

The commands:

    reshard         ``reshard``, ``merge`` and ``compress``: the same records in other files
    select          some records, with some features; ``feature_edit`` drops and renames these
    sample          a random part of the records
    split           train, val and test; ``strata`` finds where classes are cut
    shuffle, sort   all records in another order
    dedup           the first of equal records
    diff            in which records two datasets differ; it writes nothing

A command consists of tasks, each of which reads a part of the input and writes files of its own. What a task
writes does not depend on how many run at the same time, so neither does the result.
"""
