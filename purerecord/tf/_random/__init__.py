"""Random numbers that depend on a seed alone, with TensorFlow's values.

    philox       the counter-based generator, on arrays
    stateless    ``stateless_uniform`` and so on
    generator    ``tf.random.Generator``

``random`` of the folder above exports the functions. This folder does not know datasets.
"""
