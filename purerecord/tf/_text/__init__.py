"""The parts of ``tf.strings`` that are more than one call of a method of ``bytes``.

    elementwise     one function for each string of a tensor, dense or ragged
    hashing         FarmHash, SipHash and the hash of TensorFlow's own, and ``to_hash_bucket_fast``
    unicode         code points: ``unicode_decode``, ``unicode_split``, ...
    splitting       ``bytes_split``, ``ngrams``, and the splitting of TensorFlow 1
    formatting      ``format``
    regex           expressions of RE2, which TensorFlow uses, in Python's ``re``
    numbers         text as numbers

``strings`` of the folder above exports the functions. This folder knows neither files nor datasets.
"""
