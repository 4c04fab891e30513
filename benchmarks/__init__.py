"""Speed and memory, side by side with TensorFlow and ``tfrecord``: ``python -m benchmarks``.

The path of a run: ``cases`` says what is compared and against which target, ``workloads`` makes the
files, ``race`` asks one worker process per side (``worker`` around ``sides.*``) in turn, ``fresh``
measures what needs new processes (memory, import), ``report`` and ``chart`` write it down.
Nothing here is imported by ``purerecord``, and no test looks at a clock.
"""
