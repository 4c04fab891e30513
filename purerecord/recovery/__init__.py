"""Damaged files: find the damage, name it, and save everything else.

    scan                 every frame and every damage of a file, in order
    salvage              copies the good records of a damaged file to a new one, and verifies the copy
    duplicated_blocks    tells a block that was written twice from ordinary damage
    quarantine           keeps the damaged bytes for a later look
    fast_verify          the quick check of files that are probably good
    validate             ``validate``: many files, in worker processes, decoded on request
    report               what was found, as objects and as text

``salvage`` and ``validate`` both walk a file with ``scan``. Only ``validate`` knows what a payload means.
"""
