"""Speed and memory, side by side with TensorFlow and ``tfrecord``: ``python -m benchmarks``.

The path of a run: ``cases`` lists the comparisons and their targets, ``workloads`` makes the files,
``race`` runs the two sides of a comparison in turn, each in its own process (``worker`` runs ``sides.*``
there), ``fresh`` measures what needs new processes (memory, import), ``report`` and ``chart`` write the
results. ``loaders``, ``versions``, ``remote``, ``clusters``, ``convert`` and ``scale`` (with ``fleet``, its
model) are separate benchmarks. ``purerecord`` imports nothing from here, and no test looks at a clock.
"""
