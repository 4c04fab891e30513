"""Tensors of ``purerecord.tf``: numpy arrays with TensorFlow's names, dtypes and operators.

shapes           ``TensorShape`` and the type specs
convert          Python and numpy values → tensors
tensor           ``Tensor``
ragged_sparse    ``RaggedTensor`` and ``SparseTensor``
operators        arithmetic with TensorFlow's dtype rules
making           ``zeros``, ``range``, ``reshape``, ``cast``, ...
joining          ``concat``, ``stack``, ``gather``, ``where``, ...
functional       ``cond``, ``while_loop``, ``function``, ``py_function``, ...
map_fn           ``map_fn``
"""
