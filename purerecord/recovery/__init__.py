"""Damaged files: find the damage, name it, and save everything else.

    scan                 every frame and every damage of a file, in order
    salvage              copies the sound records of a damaged file to a new one, and verifies the copy
    duplicated_blocks    tells a block that was written twice from other damage
    quarantine           keeps the damaged bytes in a folder
    fast_verify          the quick check of files that are probably sound
    validate             ``validate``: many files, in worker processes, decoded on request
    consistency          what the files of a dataset say about each other
    against_manifest     how they differ from their manifest
    report               the results, as objects, as JSON and as text

``salvage`` and ``validate`` both read a file with ``scan.records_and_damage``. Except for ``validate``, these
modules must not know what a payload means.
"""
