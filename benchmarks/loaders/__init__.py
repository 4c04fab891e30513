"""purerecord's loaders and other libraries' loaders, over the same content: ``python -m benchmarks loaders``.

The path of a run: ``jobs`` lists the jobs, ``content`` makes what the files hold, ``sides.*`` write it in the
format of each side and load it, each in a process of its own (``serve`` is that process, ``client`` talks to
it), ``proof`` shows that every side delivered all of it, ``race`` decides who runs when, and ``report`` and
``chart`` write the results. Only ``sides`` knows any library.
"""
