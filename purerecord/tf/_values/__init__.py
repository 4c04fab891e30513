"""Tensors: numpy arrays with TensorFlow's dtypes, operators and errors.

The classes, from shapes up:

    nest             nested structures: tuples and dictionaries of leaves
    shapes           ``TensorShape`` and the type specs
    convert          Python and numpy values as arrays of the dtype that TensorFlow chooses
    operators        arithmetic and slices of arrays, by TensorFlow's rules
    tensor           ``EagerTensor``, ``constant``, ``convert_to_tensor``
    row_partition, ragged_rows, ragged_tensor, ragged_shape
                     ``RaggedTensor`` around the core's ``Ragged``: row splits, rows, the class, shapes
    sparse_tensor    ``SparseTensor`` around the core's ``Sparse``
    ragged_sparse    values of the core as tensors and back
    dispatch, ragged_operations, segments
                     what functions of tensors do with ragged ones
    list_nest        nested structures in which lists are structures, too
    rows             records that are parsed together, and the dictionaries of tensors that stand for each
    seeds            the generators of random operations, alone and in functions

The functions of the namespace ``tf`` itself:

    casting          ``cast``, ``saturate_cast``
    creation         ``zeros``, ``fill``, ``range``, ``one_hot``, ...
    reshaping        ``shape``, ``reshape``, ``squeeze``, ``transpose``, ...
    joining          ``stack``, ``concat``, ``split``, ``pad``, ``tile``, ...
    indexing         ``gather``, ``where``, ``sort``, ``unique``, ...
    scatter          ``gather_nd``, ``scatter_nd``, ``tensor_scatter_nd_update``, ...
    rearranging      ``roll``, ``meshgrid``, ``dynamic_partition``, ``searchsorted``, ``bitcast``, ...
    elementwise, arithmetic, along, reductions, matrices
                     the functions of ``tf.math``, ``tf.linalg`` and ``tf.bitwise``
    ragged_creation, sparse_operations, sparse_dense
                     the functions of ``tf.ragged`` and ``tf.sparse``
    protos           ``make_tensor_proto``, ``make_ndarray``
    tensor_array     ``TensorArray``
    variable         ``Variable``
    control_flow     ``case``, ``switch_case``, ``scan``, ``foldl``, ...
    eager            ``function``, ``cond``, ``while_loop``, ``py_function``: plain Python, run at once
    map_fn           ``map_fn``
    printing         ``print``

This folder knows neither datasets nor files.
"""
