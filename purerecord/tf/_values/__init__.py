"""Tensors: numpy arrays with TensorFlow's dtypes, operators and errors.

The classes, from shapes up:

    nest             nested structures: tuples and dictionaries of leaves
    shapes           ``TensorShape`` and the type specs
    convert          Python and numpy values as arrays of the dtype that TensorFlow chooses
    operators        arithmetic and slices of arrays, by TensorFlow's rules
    tensor           ``EagerTensor``, ``constant``, ``convert_to_tensor``
    ragged_sparse    ``RaggedTensor`` and ``SparseTensor`` around the core's ``Ragged`` and ``Sparse``
    rows             records that are parsed together, and the dictionaries of tensors that stand for each
    seeds            the generators of random operations, alone and in functions

The functions of the namespace ``tf`` itself:

    casting          ``cast``, ``saturate_cast``
    creation         ``zeros``, ``fill``, ``range``, ``one_hot``, ...
    reshaping        ``shape``, ``reshape``, ``squeeze``, ``transpose``, ...
    joining          ``stack``, ``concat``, ``split``, ``pad``, ``tile``, ...
    indexing         ``gather``, ``where``, ``sort``, ``unique``, ...
    eager            ``function``, ``cond``, ``while_loop``, ``py_function``: plain Python, run at once
    map_fn           ``map_fn``
    printing         ``print``

This folder knows neither datasets nor files.
"""
