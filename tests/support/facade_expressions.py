"""Expressions in ``tf`` and ``np`` that must have the same value in TensorFlow and in ``purerecord.tf``."""

from __future__ import annotations


def lines(table: str) -> list[str]:
    """The expressions of a table, one on each line."""
    return [line.strip() for line in table.splitlines() if line.strip()]


EXACT = lines(r"""
    bool(tf.constant([]))
    bool(tf.zeros([0, 2]))
    bool(tf.constant(""))
    bool(tf.constant(["a"]))
    bool(tf.constant([[0]]))
    tf.stack([])
    tf.constant(5)
    tf.constant(5.5)
    tf.constant(0.1)
    tf.constant(0.1, tf.float64)
    tf.constant(1e10)
    tf.constant([0.1, 1e10])
    tf.constant(True)
    tf.constant("a")
    tf.constant(b"a\x00")
    tf.constant(b"'")
    tf.constant("")
    tf.constant(["a", "é"])
    tf.constant([b"\xff", "a"])
    tf.constant([1, 2])
    tf.constant((1, 2))
    tf.constant(range(3))
    tf.constant(bytearray(b"ab"))
    tf.constant([[1.0, 2], [3, 4]])
    tf.constant([[1, 2], (3, 4)])
    tf.constant([])
    tf.constant([[]])
    tf.constant([[], []])
    tf.constant([[], [1]])
    tf.constant(2**31)
    tf.constant(-2**31)
    tf.constant(2**40)
    tf.constant([1, 2**40])
    tf.constant([1, 2.5])
    tf.constant([2**40, 1.5])
    tf.constant([1, True])
    tf.constant([1.0, True])
    tf.constant(1 + 2j)
    tf.constant([1j, 2])
    tf.constant(2, tf.complex64)
    tf.constant([1, 2], tf.float32)
    tf.constant([1, 2], "int64")
    tf.constant([1, 2], np.int64)
    tf.constant([1, 2], float)
    tf.constant([0.1], tf.float64)
    tf.constant(300, tf.uint8)
    tf.constant(-1, tf.uint8)
    tf.constant(70000, tf.int16)
    tf.constant(2**40, tf.int32)
    tf.constant(2**63, tf.uint64)
    tf.constant(2**63, tf.float32)
    tf.constant(True, tf.int32)
    tf.constant(True, tf.float32)
    tf.constant(1e40, tf.float16)
    tf.constant(1e300, tf.float32)
    tf.constant(3, shape=(2, 3))
    tf.constant([1, 2, 3, 4], shape=(2, 2))
    tf.constant([1, 2, 3, 4], shape=4)
    tf.constant("a", shape=[2])
    tf.constant([1, 2], dtype=tf.float32, shape=[2, 1], name="x")
    tf.constant(np.arange(3))
    tf.constant(np.array([1, 2, 3]), tf.float32)
    tf.constant(np.array([1.5]), tf.int32)
    tf.constant(np.array([300]), tf.uint8)
    tf.constant(np.array([1, 2]), tf.bool)
    tf.constant(np.array([True]), tf.int32)
    tf.constant(np.array([1, 2], ">i4"))
    tf.constant(np.float64(3))
    tf.constant(np.float16(0.1))
    tf.constant(np.float64(5.5), tf.int32)
    tf.constant(np.array(["a", "é"]))
    tf.constant(np.array([b"a", b"b\x00"], dtype=object))
    tf.constant(np.array(["a", b"b"], object))
    tf.constant(np.str_("é"))
    tf.constant(np.bytes_(b"a"))
    tf.constant(np.zeros((2, 3), np.uint8))
    tf.constant(np.arange(2000))
    tf.constant([np.float32(1), np.int64(3)])
    tf.constant([np.int64(3), 4])
    tf.constant([np.float64(3), 4.0])
    tf.constant([np.float32(1), 2.5])
    tf.constant([np.float16(2)])
    tf.constant([np.uint8(1)])
    tf.constant([np.uint8(1), np.float16(2)])
    tf.constant([np.bool_(True), False])
    tf.constant([np.str_("a")])
    tf.constant([np.int64(2**40)])
    tf.constant([np.array([1, 2]), np.array([3, 4])])
    tf.constant([np.array([1, 2]), [3, 4]])
    tf.constant([np.array([1, 2.0]), np.array([3, 4])])
    tf.constant([np.array([1, 2], np.uint8)])
    tf.constant(tf.constant(1))
    tf.constant(__import__("array").array("i", [1, 2]))
    tf.constant(__import__("collections").deque([1, 2]))
    tf.constant(np.ma.array([1, 2]))
    tf.constant(np.array([], object))
    tf.constant(np.array([], "U1"))
    tf.constant(np.arange(5)[::-1])
    tf.constant(np.asfortranarray(np.arange(6).reshape(2, 3)))
    tf.constant(np.uint64(2**63))
    tf.convert_to_tensor([tf.constant(1), tf.constant(2)])
    tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]])
    tf.convert_to_tensor([tf.constant(1, tf.int64), 2])
    tf.convert_to_tensor([tf.constant("a"), "b"])
    tf.convert_to_tensor(1.5, dtype_hint=tf.int32)
    tf.convert_to_tensor(1, dtype_hint=tf.float32)
    tf.convert_to_tensor(np.array([1.5]), dtype_hint=tf.int32)
    tf.convert_to_tensor([1, 2], tf.int64)
    tf.convert_to_tensor(tf.TensorShape([2, 3]))

    tf.constant(1) == tf.constant(1)
    tf.constant([1, 2]) == tf.constant([1, 3])
    tf.constant([1, 2]) == tf.constant([1, 3, 4])
    tf.constant([1, 2]) != [1, 2, 3]
    tf.constant([1, 2]) == np.array([1.5, 2])
    tf.constant("a") == "a"
    tf.constant("a") != b"a"
    b"a" == tf.constant("a")
    tf.constant("a") == []
    tf.constant([1, 2]) == None
    tf.constant([1, 2]) != None
    None == tf.constant("a")
    5 == tf.constant(5)
    tf.constant(float("nan")) == float("nan")
    tf.constant("a") + "b"
    "a" + tf.constant(["b"])
    tf.constant(["a", "c"]) + "b"
    tf.constant(1.0) + 1
    tf.constant([1.0, 2]) + [1, 2]
    tf.constant([1, 2]) + True
    tf.constant(1) / 2
    tf.constant(1) / 0
    tf.constant(1.0) / 0
    tf.constant(1.0) // 0
    tf.constant(1.0) % 0
    tf.constant(5, tf.uint8) / 255
    tf.constant(5, tf.int64) + 1
    tf.constant(200, tf.uint8) + 100
    tf.constant(7) // 2
    tf.constant(-7) // 2
    tf.constant(-7) % 3
    tf.constant(7.5) // 2
    tf.constant(-7.5) % 2
    tf.constant(1.0) // 0.1
    tf.constant(7) ** 2
    tf.constant(2.0) ** -1
    2 - tf.constant(7)
    2 ** tf.constant(3)
    7 // tf.constant(2)
    7 % tf.constant(4)
    7 / tf.constant(2.0)
    -tf.constant(7)
    abs(tf.constant(-1.5))
    ~tf.constant(5)
    ~tf.constant([True])
    tf.constant(5) | 2
    tf.constant(5) ^ 1
    tf.constant(3) & 1
    tf.constant(True) | False
    True & tf.constant(True)
    tf.constant(7) > 3
    5 < tf.constant(7)
    tf.constant([1, 2]) < [2, 2]
    tf.constant([1, 2]) >= tf.constant(2)
    tf.constant([1, 2]) * np.array([3, 4])
    np.array([3, 4]) * tf.constant([1, 2])
    np.array([3, 4]) == tf.constant([3, 2])
    np.float32(2) * tf.constant([1.0, 2])
    np.float64(2) * tf.constant([1.0, 2])
    tf.constant([1.0, 2]) * np.float64(2)
    tf.constant([1, 2]) * np.array([1.5, 2.5])
    tf.constant([[1, 2]]) @ tf.constant([[1], [2]])

    tf.constant([1, 2])[0]
    tf.constant([[1, 2], [3, 4]])[:, 0]
    tf.constant([[1, 2], [3, 4]])[..., tf.newaxis]
    tf.constant([[1, 2], [3, 4]])[tf.constant(1)]
    tf.constant([[1, 2], [3, 4]])[0, 1]
    tf.constant([[1, 2], [3, 4]])[-1]
    tf.constant([[1, 2], [3, 4]])[None]
    tf.constant([[1, 2], [3, 4]])[0:5]
    tf.constant([[1, 2], [3, 4]])[:tf.constant(1)]
    tf.constant([[1, 2], [3, 4]])[np.int64(1)]
    tf.constant([[1, 2], [3, 4]])[tf.constant([[True, False], [False, True]])]
    tf.constant([[1, 2], [3, 4]])[np.array([True, False])]
    tf.constant([[1, 2], [3, 4]])[[0, 1]]
    tf.constant([1, 2, 3])[tf.constant([True, False, True])]
    tf.constant([1, 2, 3])[1:]
    tf.constant([1, 2, 3])[::-1]
    tf.constant([1, 2, 3])[2:0]
    tf.constant("abc")[()]
    list(tf.constant([1, 2]))
    list(tf.constant(["a"]))
    list(tf.constant([[1], [2]]))
    list(reversed(tf.constant([1, 2])))
    len(tf.constant([1, 2]))
    int(tf.constant(1))
    int(tf.constant(1.9))
    int(tf.constant("1"))
    float(tf.constant(1))
    float(tf.constant("1.5"))
    complex(tf.constant(1))
    bool(tf.constant(1))
    bool(tf.constant([1]))
    bool(tf.constant("a"))
    bool(tf.constant(""))
    f"{tf.constant(1)}"
    f"{tf.constant(1):d}"
    f"{tf.constant(1.5):.2f}"
    f"{tf.constant([1, 2])}"
    f"{tf.constant('a')}"
    f"{tf.constant(['a'])!s}"
    "%d" % tf.constant(1)
    range(tf.constant(3))
    [10, 20][tf.constant(1)]
    1 in tf.constant([1, 2])
    sum(tf.constant([1, 2]))
    max(tf.constant([1, 2]))
    sorted(tf.constant([3, 1, 2]))
    np.sum(tf.constant([1, 2]))
    np.mean(tf.constant([1, 2]))
    np.asarray(tf.constant(["a"]))
    np.array(tf.constant(1))
    np.add(tf.constant(1), 1)
    np.stack([tf.constant([1]), tf.constant([2])])
    np.concatenate([tf.constant([1]), tf.constant([2])])
    np.asarray(tf.constant([1, 2])).flags.writeable
    tf.constant([1, 2]).numpy().flags.writeable
    tf.constant(1).numpy()
    tf.constant([1]).numpy()
    tf.constant("a").numpy()
    tf.constant(["a"]).numpy()
    tf.constant(1).shape
    tf.constant([[1, 2]]).get_shape()
    tf.constant([[1, 2]]).shape[1]
    tf.constant([[1, 2]]).shape == (1, 2)
    tf.constant([1, 2]).dtype
    tf.constant([1, 2]).ndim
    tf.constant([1, 2]).device
    tf.constant([1, 2]).set_shape([None])
    tf.constant([1, 2]).ref() == tf.constant([1, 2]).ref()
    tf.constant(1).ref()
    isinstance(tf.constant(0), tf.Tensor)
    isinstance(tf.constant(1), type(tf.constant(0)))
    type(tf.constant(0)).__name__
    isinstance(tf.constant([0]), np.ndarray)
    tf.is_tensor(1)
    tf.is_tensor(tf.constant(1))
    __import__("pickle").loads(__import__("pickle").dumps(tf.constant([1, 2])))
    __import__("copy").deepcopy(tf.constant([1, 2]))

    tf.int64
    str(tf.int64)
    tf.string.as_numpy_dtype
    tf.int64 == "int64"
    tf.int64 == np.int64
    tf.int64 == np.dtype("int64")
    tf.int64 == int
    tf.int64 == 3
    tf.int64 != tf.int32
    tf.string == str
    tf.string == bytes
    tf.string == object
    tf.float32 == float
    tf.float32 == None
    tf.int64.min
    tf.float32.max
    tf.uint8.limits
    tf.complex64.real_dtype
    tf.int64.base_dtype
    tf.int64.is_compatible_with("int64")
    tf.as_dtype("float")
    tf.as_dtype(float)
    tf.as_dtype(bool)
    tf.as_dtype(object)
    tf.as_dtype("half")
    tf.as_dtype(np.dtype("U3"))
    tf.as_dtype(7)
    tf.half
    tf.double
    tf.int64 is tf.dtypes.int64
    tf.dtypes.as_dtype("int32")
    {tf.int64: 1}[tf.int64]

    tf.TensorShape([])
    tf.TensorShape([2, None])
    tf.TensorShape(None)
    tf.TensorShape(3)
    tf.TensorShape((tf.constant(2), 3))
    tf.TensorShape(tf.constant([2, 3]))
    tf.TensorShape([2, 3]).as_list()
    tf.TensorShape([2, 3]).rank
    tf.TensorShape(None).rank
    tf.TensorShape([2, 3]).ndims
    tf.TensorShape([2, None]).is_fully_defined()
    tf.TensorShape([2, 3]).num_elements()
    tf.TensorShape([2, None]).num_elements()
    tf.TensorShape([]) == []
    tf.TensorShape([2, 3]) == (2, 3)
    (2, 3) == tf.TensorShape([2, 3])
    tf.TensorShape([2, None]) == (2, None)
    tf.TensorShape([2, 3]) == tf.TensorShape(None)
    tf.TensorShape(None) == tf.TensorShape(None)
    tf.TensorShape([2, 3]) == 5
    tf.TensorShape([2, 3]) != (2, 3)
    tf.TensorShape([2, 3])[0]
    tf.TensorShape([2, 3])[-1]
    tf.TensorShape([2, 3])[1:]
    tf.TensorShape(None)[0]
    tf.TensorShape(None)[1:]
    tf.TensorShape([2, 3]) + [4]
    [1] + tf.TensorShape([2])
    (1,) + tf.TensorShape([2])
    tf.TensorShape([2, 3]).concatenate(4)
    len(tf.TensorShape([2, 3]))
    list(tf.TensorShape([2, None]))
    tuple(tf.TensorShape([2, 3]))
    bool(tf.TensorShape([]))
    bool(tf.TensorShape(None))
    tf.TensorShape([2, None]).is_compatible_with([2, 5])
    tf.TensorShape([2, None]).is_compatible_with([2, 5, 1])
    tf.TensorShape(None).is_compatible_with([2, 5, 1])
    tf.TensorShape([2, None]).merge_with([None, 5])
    tf.TensorShape([2, None]).with_rank(2)
    tf.TensorShape([2, None]).most_specific_compatible_shape([3, 5])
    isinstance(tf.TensorShape([2]), tuple)
    np.zeros(tf.TensorShape([2, 3]))
    "%s" % tf.TensorShape([2, 3])
    f"{tf.TensorShape([2, 3])}"
    {tf.TensorShape([2, 3]): 1}[tf.TensorShape([2, 3])]
    tf.TensorSpec([2, None], tf.int64)
    tf.TensorSpec([2, None])
    tf.TensorSpec((), tf.string, name="x")
    tf.TensorSpec(None)
    tf.TensorSpec(shape=(), dtype=np.int32)
    tf.TensorSpec([2], tf.int64) == tf.TensorSpec([2], tf.int64)
    tf.TensorSpec([2], tf.int64) == tf.TensorSpec([2], tf.int32)
    tf.TensorSpec([2], tf.int64) == 5
    tf.TensorSpec([2], tf.int32).is_compatible_with(tf.constant([1, 2]))
    tf.TensorSpec([3], tf.int32).is_compatible_with(tf.constant([1, 2]))
    tf.TensorSpec.from_tensor(tf.constant([1, 2]))
    tf.TensorSpec.from_spec(tf.TensorSpec([2], tf.int64))
    tf.type_spec_from_value(tf.constant([1, 2]))
    tf.type_spec_from_value(tf.ragged.constant([[1], []]))
    tf.type_spec_from_value(tf.sparse.from_dense([[1, 0]]))
    tf.RaggedTensorSpec([2, None], tf.int64)
    tf.RaggedTensorSpec([2, None], tf.int64, ragged_rank=1, row_splits_dtype=tf.int32)
    tf.SparseTensorSpec([2, None], tf.int64)
    tf.SparseTensorSpec()

    tf.ragged.constant([[1, 2], [], [3]])
    tf.ragged.constant([["a"], []])
    tf.ragged.constant([[[1, 2], []], []])
    tf.ragged.constant([[1, 2], [3, 4]])
    tf.ragged.constant([[1.5, 2], []])
    tf.ragged.constant([[1, 2], [], [3]]).shape
    tf.ragged.constant([[[1, 2], []], []]).shape
    tf.ragged.constant([[1, 2], [], [3]]).values
    tf.ragged.constant([[1, 2], [], [3]]).row_splits
    tf.ragged.constant([[[1, 2], []], []]).nested_row_splits
    tf.ragged.constant([[1, 2], [], [3]]).ragged_rank
    tf.ragged.constant([[1, 2], [], [3]]).nrows()
    tf.ragged.constant([[1, 2], [], [3]]).row_lengths()
    tf.ragged.constant([[1, 2], [], [3]]).bounding_shape()
    tf.ragged.constant([[1, 2], [], [3]]).value_rowids()
    tf.ragged.constant([[1, 2], [], [3]]).row_starts()
    tf.ragged.constant([[1, 2], [], [3]]).row_limits()
    tf.ragged.constant([[1, 2], [], [3]]).to_list()
    tf.ragged.constant([[1, 2], [], [3]]).to_tensor()
    tf.ragged.constant([[1, 2], [], [3]]).to_tensor(-1)
    tf.ragged.constant([[1, 2], [], [3]]).to_tensor(shape=[None, 1])
    tf.ragged.constant([[1, 2], [], [3]]).to_tensor(-1, shape=[4, 3])
    tf.ragged.constant([["a"], []]).to_tensor()
    tf.ragged.constant([["a"], []]).to_tensor("z")
    tf.ragged.constant([[[1, 2], []], []]).to_tensor()
    tf.ragged.constant([[1, 2], [], [3]]).to_sparse()
    tf.ragged.constant([[1, 2], [3, 4]]).numpy()
    tf.ragged.constant([[1, 2], [], [3]])[0]
    tf.ragged.constant([[1, 2], [], [3]])[1:]
    tf.ragged.constant([[1, 2], [], [3]])[0, 1]
    tf.ragged.constant([[1, 2], [], [3]])[:, :1]
    list(tf.ragged.constant([[1, 2], []]))
    tf.ragged.constant([[1, 2], []]).dtype
    tf.ragged.constant([[1, 2], []]) == tf.ragged.constant([[1, 2], []])
    tf.ragged.constant([[1, 2], []]) + 1
    tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
    tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
    tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
    tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2])
    tf.RaggedTensor.from_tensor([[1, 2], [3, 4]])
    tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2]).shape
    tf.ragged.constant(np.arange(2000).reshape(1000, 2).tolist())
    tf.cast(tf.ragged.constant([[1, 2], []]), tf.float32)
    tf.SparseTensor([[0, 1]], [5], [2, 3])
    tf.SparseTensor([[0, 1]], ["a"], [2, 3])
    tf.SparseTensor(indices=[[0, 1], [1, 2]], values=[5, 6], dense_shape=[2, 3])
    tf.SparseTensor([[0, 1]], [5], [2, 3]).shape
    tf.SparseTensor([[0, 1]], [5], [2, 3]).dense_shape
    tf.SparseTensor([[0, 1]], [5], [2, 3]).indices
    tf.SparseTensor([[0, 1]], [5], [2, 3]).values
    tf.SparseTensor([[0, 1]], [5], [2, 3]).dtype
    tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [2, 3]))
    tf.sparse.to_dense(tf.SparseTensor([[0, 1]], ["a"], [2, 3]))
    tf.sparse.to_dense(tf.SparseTensor([[0, 1]], ["a"], [2, 3]), default_value="z")
    tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [2, 3]), 9)
    tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 0]], [5, 6], [2, 3]), validate_indices=False)
    tf.sparse.from_dense([[1, 0], [0, 2]])
    tf.sparse.reorder(tf.SparseTensor([[0, 1], [0, 0]], [5, 6], [2, 3]))
    tf.sparse.reshape(tf.SparseTensor([[0, 1]], [5], [2, 3]), [3, -1])
    tf.cast(tf.SparseTensor([[0, 1]], [5], [2, 3]), tf.float32)

    tf.cast(5, tf.float32)
    tf.cast([1.9, -1.9], tf.int32)
    tf.cast([0, 2], tf.bool)
    tf.cast([True, False], tf.int64)
    tf.cast(300, tf.uint8)
    tf.cast(-1, tf.uint8)
    tf.cast(tf.constant(1 + 2j), tf.float32)
    tf.cast(5, "int64")
    tf.dtypes.cast([1.5], tf.int32)
    tf.saturate_cast([300, -5], tf.uint8)
    tf.saturate_cast([300.7, -5.5, 7.9], tf.uint8)
    tf.identity([1])
    tf.zeros((2, 3))
    tf.zeros([2], tf.string)
    tf.zeros(tf.constant([2, 1]), tf.int32)
    tf.zeros([], tf.bool)
    tf.zeros(3)
    tf.ones((2,), tf.int64)
    tf.ones([1], tf.bool)
    tf.zeros_like([[1, 2]])
    tf.ones_like([1.5, 2])
    tf.ones_like([1.5, 2], tf.int32)
    tf.fill([2, 2], 7)
    tf.fill([2], "a")
    tf.eye(2)
    tf.eye(2, 3, dtype=tf.int32)
    tf.range(5)
    tf.range(2, 5)
    tf.range(2, 9, 3)
    tf.range(5, 0, -2)
    tf.range(3.0)
    tf.range(0, 1, 0.25)
    tf.range(5, dtype=tf.int64)
    tf.range(tf.constant(3, tf.int64))
    tf.range(3, 3)
    tf.linspace(1.0, 2.0, 5)
    tf.one_hot(1, 3)
    tf.one_hot([0, 2, -1, 5], 3)
    tf.one_hot([0, 1], 3, dtype=tf.int32)
    tf.one_hot([0, 1], 3, on_value=5, off_value=-1)
    tf.one_hot([0, 1], 3, on_value=5.0)
    tf.one_hot([0, 1], 3, axis=0)
    tf.one_hot([[0, 1]], 3, axis=1)
    tf.one_hot(tf.constant([0, 1], tf.int64), 2, True, False)
    tf.shape([[1, 2, 3]])
    tf.shape(5)
    tf.shape([1], out_type=tf.int64)
    tf.shape(tf.zeros((2, 3)))[0]
    tf.size([[1, 2]])
    tf.rank([[1, 2]])
    tf.reshape([1, 2, 3, 4], [2, 2])
    tf.reshape([1, 2, 3, 4], [-1])
    tf.reshape([1, 2, 3, 4], (2, -1))
    tf.reshape(5, [1, 1])
    tf.reshape([5], [])
    tf.reshape(["a", "b"], [2, 1])
    tf.reshape([1, 2, 3, 4], tf.constant([4, 1]))
    tf.reshape([1, 2], [tf.constant(2), 1])
    tf.reshape([1, 2], tf.TensorShape([2, 1]))
    tf.reshape([], [0, 2])
    tf.expand_dims([1, 2], 0)
    tf.expand_dims([1, 2], -1)
    tf.expand_dims([1, 2], axis=1)
    tf.squeeze([[[1], [2]]])
    tf.squeeze([[[1], [2]]], 0)
    tf.squeeze([[[1], [2]]], [0, 2])
    tf.squeeze([[1]])
    tf.transpose([[1, 2], [3, 4]])
    tf.transpose(tf.zeros((2, 3, 4)), [2, 0, 1]).shape
    tf.broadcast_to([1, 2], [2, 2])
    tf.ensure_shape([1, 2], [None])
    tf.stack([1, 2])
    tf.stack([[1, 2], [3, 4]], axis=1)
    tf.stack([tf.constant(1, tf.int64), 2])
    tf.stack(["a", "b"])
    tf.stack([np.arange(2), np.arange(2)])
    tf.stack([np.arange(2), np.arange(2)], axis=1)
    tf.stack([tf.constant([1], tf.int64), np.array([2])])
    tf.unstack([[1, 2], [3, 4]])
    tf.unstack([[1, 2], [3, 4]], axis=1)
    tf.concat([[1], [2, 3]], 0)
    tf.concat([[[1]], [[2]]], axis=1)
    tf.concat([[[1]], [[2]]], axis=-1)
    tf.concat([tf.constant([1.5]), [2]], 0)
    tf.split([1, 2, 3, 4], 2)
    tf.split([1, 2, 3], [1, 2])
    tf.split([1, 2, 3], [1, -1])
    tf.split([[1, 2], [3, 4]], 2, axis=1)
    tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, 2])
    tf.slice([1, 2, 3], [1], [-1])
    tf.gather([10, 20, 30], [2, 0])
    tf.gather([10, 20, 30], 1)
    tf.gather([[1, 2], [3, 4]], [1, 0], axis=1)
    tf.gather(["a", "b"], [1])
    tf.gather([b"a", b"b\x00"], 1)
    tf.gather([b"a", b"b\x00"], 1).numpy()
    tf.constant([b"a\x00"])[0].numpy()
    type(tf.constant(["a"])[0].numpy())
    list(tf.constant([b"a\x00"]))
    tf.reshape([b"a\x00"], [])
    tf.squeeze([b"a\x00"])
    tf.where(True, b"a\x00", "b")
    tf.where(True, "a", "b").numpy()
    tf.strings.join([b"a\x00", b"\x00"])
    tf.unstack([b"a\x00"])
    tf.strings.substr("ab", 0, 1).numpy()
    tf.strings.reduce_join(["a", b"\x00"])
    tf.concat([["a"], [b"b\x00"]], 0)
    tf.stack([b"b\x00"])
    tf.slice([b"a\x00"], [0], [1])
    tf.transpose([[b"a\x00"]])
    tf.expand_dims(b"a\x00", 0)
    tf.tile([b"a\x00"], [2])
    tf.reverse([b"a\x00"], [0])
    tf.boolean_mask([1, 2, 3], [True, False, True])
    tf.boolean_mask([[1, 2], [3, 4]], [True, False])
    tf.where([True, False])
    tf.where([True, False], [1, 2], [3, 4])
    tf.where([True, False], 1, 0)
    tf.where([[True], [False]], [[1, 2]], [[0, 0]])
    tf.where(tf.constant([1, 2]) > 1, "a", "b")
    tf.pad([[1, 2]], [[1, 0], [0, 1]])
    tf.pad([1, 2], [[1, 1]], constant_values=9)
    tf.pad([1, 2, 3], [[2, 0]], "REFLECT")
    tf.pad([1, 2, 3], [[2, 0]], "SYMMETRIC")
    tf.tile([1, 2], [2])
    tf.tile([[1, 2]], [2, 2])
    tf.repeat([1, 2], 2)
    tf.repeat([1, 2], [1, 2])
    tf.repeat([[1, 2]], 2, axis=0)
    tf.reverse([1, 2, 3], [0])
    tf.sort([3, 1, 2])
    tf.sort([3, 1, 2], direction="DESCENDING")
    tf.argsort([3, 1, 2])
    tf.argsort([3, 1, 2, 3], direction="DESCENDING")
    tf.unique([1, 1, 2])[0]
    tf.unique([1, 1, 2])[1]
    tf.sequence_mask([1, 3], 4)
    tf.sequence_mask([1, 3])

    tf.add(1, 2)
    tf.add([1, 2], tf.constant(2))
    tf.subtract(3, 1)
    tf.multiply([1.0, 2], 3)
    tf.divide(1, 2)
    tf.math.divide_no_nan(1.0, 0.0)
    tf.math.floordiv(7, 2)
    tf.math.floormod(-7, 3)
    tf.pow(2, 3)
    tf.maximum([1, 5], 3)
    tf.minimum([1, 5], 3)
    tf.math.squared_difference(3, 1)
    tf.equal([1, 2], [1, 3])
    tf.equal("a", "a")
    tf.equal(tf.constant("a"), ["a", "b"])
    tf.not_equal([1, 2], 2)
    tf.less(1, 2)
    tf.greater([1, 2], [2, 1])
    tf.greater_equal(1, 1)
    tf.logical_and(True, [True, False])
    tf.logical_or(False, [True, False])
    tf.logical_not([True, False])
    tf.math.logical_xor(True, True)
    tf.abs([-1, 2])
    tf.negative([1.5])
    tf.sign([-2.0, 0, 3])
    tf.square([1, 2])
    tf.sqrt([4.0])
    tf.floor([1.5, -1.5])
    tf.math.ceil([1.2, -1.2])
    tf.round([0.5, 1.5, 2.5, -0.5])
    tf.math.is_nan([1.0, float("nan")])
    tf.math.is_inf([1.0, float("inf")])
    tf.math.is_finite([1.0, float("inf")])
    tf.reduce_sum([1, 2, 3])
    tf.reduce_sum([[1, 2], [3, 4]], 0)
    tf.reduce_sum([[1, 2], [3, 4]], axis=[0, 1])
    tf.reduce_sum([[1, 2], [3, 4]], axis=-1, keepdims=True)
    tf.reduce_sum([])
    tf.reduce_mean([1.0, 2])
    tf.reduce_mean([1, 2])
    tf.reduce_mean([-1, -2])
    tf.reduce_mean([[1.0, 2], [3, 4]], axis=0)
    tf.reduce_max([[1, 5], [7, 2]], 1)
    tf.reduce_max(tf.zeros([0]))
    tf.reduce_min([3, 1, 2])
    tf.reduce_prod([2, 3])
    tf.reduce_any([True, False])
    tf.reduce_all([[True, False], [True, True]], 1)
    tf.argmax([1, 5, 3])
    tf.argmax([[1, 5], [7, 2]], axis=1)
    tf.argmax([[1, 5], [7, 2]], 0, output_type=tf.int32)
    tf.argmin([1, 5, 0])
    tf.cumsum([1, 2, 3])
    tf.cumsum([1, 2, 3], exclusive=True)
    tf.cumsum([1, 2, 3], reverse=True)
    tf.math.count_nonzero([0, 1, 2])
    tf.math.count_nonzero(["", "a"])
    tf.add_n([[1, 2], [3, 4]])
    tf.clip_by_value([1, 5, 9], 2, 7)
    tf.clip_by_value([0.5, 1.5], 0.0, 1.0)
    tf.math.reduce_mean([1.0, 3])
    tf.math.argmax([1, 3])

    tf.strings.length("abc")
    tf.strings.length(["é", "a"])
    tf.strings.length("é", unit="UTF8_CHAR")
    tf.strings.lower("ABC")
    tf.strings.upper(["abc"])
    tf.strings.strip("  a ")
    tf.strings.join(["a", "b"])
    tf.strings.join(["a", ["b", "c"]], separator="-")
    tf.strings.reduce_join(["a", "b"])
    tf.strings.reduce_join(["a", "b"], separator=" ")
    tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0)
    tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, keepdims=True)
    tf.strings.split("a b  c")
    tf.strings.split("a,b,,c", ",")
    tf.strings.split("a,b,c", sep=",", maxsplit=1)
    tf.strings.split(["a b", "c"])
    tf.strings.split("folder/class/name.jpg", "/")[-2]
    tf.strings.substr("hello", 1, 3)
    tf.strings.substr("hello", -3, 2)
    tf.strings.regex_replace("a1b2", "[0-9]", "#")
    tf.strings.regex_replace("a1b2", "([a-z])([0-9])", r"\2\1")
    tf.strings.regex_replace("aa", "a", "b", replace_global=False)
    tf.strings.regex_full_match(["cat.jpg", "x.png"], r".*\.jpg")
    tf.strings.to_number("1.5")
    tf.strings.to_number(["1", "2"], tf.int32)
    tf.strings.as_string([1, 2])
    tf.strings.as_string(1.5)
    tf.strings.as_string(3.14159, precision=2)
    tf.strings.as_string([True, False])
    tf.strings.as_string(7, width=3, fill="0")

    tf.executing_eagerly()
    tf.function(lambda x: x + 1)(tf.constant(1))
    tf.function(input_signature=[tf.TensorSpec([], tf.int32)])(lambda x: x + 1)(tf.constant(1))
    tf.py_function(lambda x: x + 1, [tf.constant(1)], tf.int32)
    tf.py_function(lambda x, y: (x, y), [1, "a"], [tf.int32, tf.string])
    tf.py_function(lambda x: x.numpy().decode() + "!", [tf.constant("a")], tf.string)
    tf.py_function(lambda: 1.5, [], tf.float32)
    tf.py_function(lambda: 1, [], tf.float32)
    tf.py_function(lambda: np.float64(1.5), [], tf.float32)
    tf.py_function(lambda: None, [], [])
    tf.numpy_function(lambda: np.array(["a"]), [], tf.string)
    tf.numpy_function(lambda x: x + 1, [tf.constant(1)], tf.int32)
    tf.numpy_function(lambda x: x * 2, [np.array([1.5, 2])], tf.float64)
    tf.numpy_function(lambda x: (x, x), [tf.constant([1])], [tf.int32, tf.int32])
    tf.numpy_function(lambda x: x + b"!", [tf.constant("a")], tf.string)
    tf.cond(tf.constant(True), lambda: 1, lambda: 2)
    tf.map_fn(lambda x: x * 2, tf.constant([1, 2]))
    tf.map_fn(lambda t: t[0] + t[1], (tf.constant([1, 2]), tf.constant([3, 4])), dtype=tf.int32)
    tf.map_fn(lambda t: t[0] + t[1], [tf.constant([1, 2]), tf.constant([3, 4])], dtype=tf.int32)
    tf.map_fn(lambda t: (t[1], t[0]), (tf.constant([1, 2]), tf.constant([3, 4])))
    tf.map_fn(lambda x: (x, tf.cast(x, tf.float32)), tf.constant([1, 2]), dtype=(tf.int32, tf.float32))
    tf.map_fn(lambda x: x * 2, tf.zeros([0, 2]))
    tf.map_fn(lambda x: tf.size(x), tf.ragged.constant([[1, 2], [3]]), fn_output_signature=tf.int32)
    tf.map_fn(lambda x: x + 1, tf.ragged.constant([[1, 2], [3]]))
    tf.map_fn(lambda x: tf.range(x), tf.constant([1, 2]), dtype=tf.RaggedTensorSpec([None], tf.int32))
    tf.map_fn(lambda x: tf.fill([2], x), tf.constant([1, 2]), dtype=tf.TensorSpec([2], tf.int32))
    tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + i), (0, 0))
    tf.map_fn(lambda x: tf.cast(x, tf.float32), tf.constant([1, 2]), fn_output_signature=tf.float32)
    tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
    tf.strings.substr("aé漢z",1,2,unit="UTF8_CHAR")
    tf.strings.substr(["aé漢z","ббб"],1,1,unit="UTF8_CHAR")
    tf.strings.substr(["aé漢z","ббб"],-2,1,unit="UTF8_CHAR")
    tf.strings.substr(["aé漢z","ббб"],-3,9,unit="UTF8_CHAR")
    tf.strings.substr(["aé"],2,1,unit="UTF8_CHAR")
    tf.strings.substr([b"a\xff\xfe\xc3z"],1,2,unit="UTF8_CHAR")
    tf.strings.substr([b"\x80\x80a"],0,1,unit="UTF8_CHAR")
    tf.strings.substr([b"\x80\x80a"],1,1,unit="UTF8_CHAR")
    tf.strings.length([b"a\xff\xfe\xc3z","aé漢z"],unit="UTF8_CHAR")
    tf.strings.substr(["hello","world"],[1,2],[2,3])
    tf.strings.substr("hello",[1,2],[3,1])
    tf.strings.substr([["hello"],["world"]],[1,2],[3,1])
    tf.strings.substr([["hello","abcde"],["world","xyzuv"]],[1,2],[3,1])
    tf.strings.substr(["hello","world"],[[1],[2]],[[1],[2]])
    tf.strings.substr(["hello"],np.int64(1),np.int64(2))
    tf.strings.substr(["hello"],1,-1)
    tf.strings.substr([],1,2)
    tf.strings.reduce_join([["a","b"],["c","d"]],axis=[0,1])
    tf.strings.reduce_join([["a","b"],["c","d"]],axis=[1,0])
    tf.strings.reduce_join([["a","b"],["c","d"]])
    tf.strings.reduce_join([["a","b"],["c","d"]],axis=[-1,-2],separator="-")
    tf.strings.reduce_join([[["a","b"],["c","d"]],[["e","f"],["g","h"]]],axis=[0,2],separator="-")
    tf.strings.reduce_join([[["a","b"],["c","d"]],[["e","f"],["g","h"]]],axis=[2,0],separator="-",keepdims=True)
    tf.strings.reduce_join([["a","b"],["c","d"]],axis=[])
    tf.saturate_cast(np.float32(3e9),tf.int32)
    tf.saturate_cast(np.float32(-3e9),tf.int32)
    tf.saturate_cast(np.float64(3e9),tf.int32)
    tf.saturate_cast(np.float32(np.inf),tf.int32)
    tf.saturate_cast(np.float32(np.nan),tf.int32)
    tf.saturate_cast(np.float64(np.inf),tf.float32)
    tf.saturate_cast(np.float64([-np.inf,np.nan,1e300]),tf.float32)
    tf.saturate_cast(np.float32([np.inf,1e9,-1e9]),tf.float16)
    tf.saturate_cast(np.float32(np.inf),tf.float64)
    tf.saturate_cast(np.float32(np.inf),tf.float32)
    tf.saturate_cast(np.float16(60000),tf.uint16)
    tf.saturate_cast(np.float32([300,-5,255.9]),tf.uint8)
    tf.saturate_cast(np.float32([1e20,-5]),tf.uint32)
    tf.saturate_cast(np.int64([-5,2**40]),tf.uint8)
    tf.saturate_cast(np.int32([-5,7]),tf.float32)
    tf.saturate_cast(np.complex64(1+2j),tf.float32)
    tf.saturate_cast(np.complex128(1e300+2j),tf.float32)
    tf.saturate_cast(np.complex64(300+2j),tf.uint8)
    tf.saturate_cast(3.7,tf.int32)
    tf.math.squared_difference([1+2j],[3-1j])
    tf.math.squared_difference(np.complex64([1+2j]),np.complex64([3-1j]))
    tf.math.squared_difference([1.5],[3.])
    tf.math.squared_difference([1],[3])
    tf.ragged.constant([[[1],[2,3]],[],[[4,5,6]]]).row_lengths(axis=2)
    tf.ragged.constant([[[1],[2,3]],[],[[4,5,6]]]).row_lengths(axis=1)
    tf.ragged.constant([[[1],[2,3]],[],[[4,5,6]]]).row_lengths(axis=-1)
    tf.ragged.constant([[[1],[2,3]],[],[[4,5,6]]]).row_lengths(axis=0)
    tf.ragged.constant([[[1,2]],[[3,4],[5,6]]],ragged_rank=1).row_lengths(axis=2)
    tf.ragged.constant([[[1,2]],[[3,4],[5,6]]],ragged_rank=1).row_lengths(axis=0)
    tf.strings.as_string([1,-2],fill="-",width=5)
    tf.strings.as_string([1,-2],fill="0",width=5)
    tf.strings.as_string([1,-2],fill="+",width=5)
    tf.strings.as_string([1,-2],fill=" ",width=5)
    tf.strings.as_string([1.5,-2],fill="-",width=12)
    tf.strings.as_string([1.5,-2],fill="0",width=12)
    tf.strings.as_string([1.5,-2],fill=" ",width=12)
    tf.strings.as_string([1.5,-2],fill="+",width=12)
    tf.strings.as_string([1.5],fill="-")
    tf.strings.as_string([1,2],fill="-")
    tf.strings.as_string(["a","bcd"],width=5)
    tf.strings.as_string(["a","bcd"],width=5,fill="-")
    tf.strings.as_string(["a","bcd"],width=5,fill="0")
    tf.strings.as_string(["a","bcd"])
    tf.strings.as_string([True,False],width=7)
    tf.strings.as_string([True,False],width=7,fill="-")
    tf.strings.as_string([True,False],fill="0",width=7)
    tf.strings.as_string(["a"],precision=2)
    tf.strings.as_string([1.5e10],scientific=True,precision=2)
    tf.strings.as_string([1.5e10,1e-7,float("nan"),float("inf")],shortest=True)
    tf.strings.as_string([1.5e10,1e-7,float("nan"),-float("inf")])
    tf.strings.as_string(np.uint8([200]),width=5)
    tf.strings.as_string(np.int64([-2**63]))
    tf.strings.as_string(np.float16([1.5]))
    tf.strings.as_string(np.complex64([1.5+2j]))
    tf.strings.as_string(np.complex64([1.5+2j]),precision=2,width=9)
    tf.strings.as_string(np.complex128([1.5-2j]),shortest=True)
    tf.pad([1,2,3],[[2,2]],"REFLECT")
    tf.pad([1,2,3],[[3,3]],"SYMMETRIC")
    tf.pad(tf.zeros([0,2]),[[0,0],[1,0]],"SYMMETRIC")
    tf.clip_by_value([1,2,3],[0,0,2],5)
    tf.clip_by_value([[1,2,3]],[0,0,2],[2,2,2])
    tf.clip_by_value([1.,2,3],0,2)
    tf.split([1,2,3,4],2,num=3)
    tf.split([1,2,3,4],[1,3],num=2)
    tf.one_hot([0,1],3,on_value=5,off_value=2,dtype=tf.float32)
    tf.one_hot([0,1],3,on_value=5.0)
    tf.one_hot([0,1],3,off_value=5.0)
    tf.one_hot([0,1],3,on_value="a",off_value="b")
    tf.one_hot([0,1],3,on_value=True,off_value=False)
    tf.image.rgb_to_grayscale(np.zeros([3],np.uint8))
    tf.image.adjust_contrast(np.ones([2,2,3],np.uint8),2)
    tf.image.adjust_brightness(np.ones([1,1,3],np.float32),[.1,.2,.3])
    tf.image.rgb_to_hsv(np.ones([1,1,3],np.uint8))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)]*2,weights=[0.,0.]))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)]*2,weights=[1.,0.]))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)]*2,weights=[-1.,1.]))
    tf.image.grayscale_to_rgb(tf.zeros([2,1]))
    tf.image.grayscale_to_rgb(tf.zeros([1,1,1]))
    tf.image.adjust_hue(np.ones([1,1,3],np.uint8),0.5)
    tf.image.adjust_gamma(tf.ones([1,1,3])/2,tf.constant(2.))
    tf.image.rgb_to_hsv(np.ones([3],np.float32))
    tf.image.rgb_to_hsv(np.ones([1,3],np.int32))
    tf.image.rgb_to_hsv(np.ones([1,3],np.float64)*.5)
    tf.strings.substr(["hello","world"],np.int64([1,2]),[2,3])
    tf.strings.substr(["hello","world"],np.int32([1,2]),np.int64([2,3]))
    tf.strings.substr(np.array([[["a"]]]),[[[0]]],[[[1]]])
    tf.strings.substr(np.array([[["a"]]]),0,1)
    tf.strings.substr("hello",[[1,2]],[[3,1]])
    tf.strings.length([b"\x80\x80a"],unit="UTF8_CHAR")
    tf.strings.as_string([1.5,-2.],fill="+")
    tf.strings.as_string([1.5,-2.],fill="0")
    tf.strings.as_string([1,2],fill="+")
    tf.strings.as_string(["a"],fill="+",width=4)
    tf.strings.as_string(["abc"],precision=2)
    tf.strings.as_string(["abc"],scientific=True)
    tf.strings.as_string([1.5],fill="#",shortest=True)
    tf.strings.as_string(np.uint8([7]),fill="+",width=5)
    tf.strings.as_string(np.complex64([1.5+2j]),scientific=True,fill="+")
    tf.strings.as_string([1.5],width=0)
    tf.strings.as_string([1.5],width=-5)
    tf.strings.as_string([0.1,1/3,1e10,123456789.],shortest=True)
    tf.strings.as_string(np.float64([0.1,1/3,1e10,123456789.]))
    tf.strings.as_string(np.float16([0.1,1/3]))
    tf.strings.as_string(tf.cast([0.1,1/3],tf.bfloat16))
    tf.split([1,2,3,4],[2,-1])
    tf.split(tf.range(4),2,num=5)
    tf.clip_by_value([5,6],3,1)
    tf.clip_by_value(np.int64([1,2]),0,1)
    tf.one_hot([0],2,on_value=1.0,off_value=0.0,dtype=tf.float64)
    tf.one_hot([0],2,off_value=7)
    tf.one_hot([0],2,on_value=3,dtype=tf.int64)
    tf.one_hot([0],2,on_value=3,off_value=0.5,dtype=tf.float32)
    tf.pad([[1,2],[3,4]],[[1,1],[1,1]],"REFLECT")
    tf.pad([[1,2],[3,4]],[[1,1],[2,2]],"symmetric")
    tf.pad(5,np.zeros([0,2],np.int32))
    tf.pad(np.zeros([0]),[[0,0]],"SYMMETRIC")
    tf.saturate_cast(np.float64(1e39),tf.complex64)
    tf.saturate_cast(np.complex128(1e300+2e300j),tf.complex64)
    tf.saturate_cast(np.float32([1e38,np.inf]),tf.bfloat16)
    tf.saturate_cast(tf.cast([1e38,300.],tf.bfloat16),tf.uint8)
    tf.saturate_cast(np.float16([65504]),tf.int16)
    tf.saturate_cast(np.float16([np.inf]),tf.uint32)
    tf.saturate_cast(np.float16([np.inf]),tf.float16)
    tf.saturate_cast(np.uint8([200]),tf.int8)
    tf.saturate_cast(np.uint16([60000]),tf.float16)
""")

APPROXIMATE = lines("""
    tf.reduce_mean(np.linspace(0, 1, 1001).astype(np.float32))
    tf.reduce_sum(np.linspace(0, 1, 1001).astype(np.float32))
    tf.math.reduce_std([1.0, 2, 4])
    tf.math.reduce_variance([[1.0, 2], [4, 8]], axis=0)
    tf.exp([0.5, 1.0])
    tf.math.log([0.5, 1.0, 0.0])
    tf.math.log1p([0.5])
    tf.math.rsqrt([4.0, 2.0])
    tf.sin([0.5])
    tf.cos([0.5])
    tf.tanh([0.5])
    tf.sigmoid([0.5, -3.0])
""")

ERRORS = lines(r"""
    tf.one_hot(1.0, 3)
    tf.map_fn(lambda x: x, [1, 2])
    tf.map_fn(lambda x: x, 5)
    tf.map_fn(lambda x: 1.5, tf.constant([1]))
    tf.map_fn(lambda t: t[0], (tf.constant([1, 2]), tf.constant([1, 2, 3])), dtype=tf.int32)
    tf.map_fn(lambda x: tf.range(x), tf.constant([1, 2]))
    tf.constant(2**63)
    tf.constant(2**64, tf.int64)
    tf.constant([True, 1])
    tf.constant([1, "a"])
    tf.constant([b"a", 1])
    tf.constant([1, [2]])
    tf.constant([[1], 2])
    tf.constant([[1], [2, 3]])
    tf.constant(["a", 2], tf.string)
    tf.constant(None)
    tf.constant([None])
    tf.constant({1, 2})
    tf.constant(1.5, tf.int32)
    tf.constant([1.5, 2], tf.int32)
    tf.constant("a", tf.int32)
    tf.constant(1, tf.string)
    tf.constant(1, tf.bool)
    tf.constant(1e40)
    tf.constant([1, 2, 3], shape=(2, 2))
    tf.constant([1], shape=[-1])
    tf.constant(tf.constant(1), tf.float32)
    tf.constant([1, 2], int)
    tf.constant("a", str)
    tf.constant(np.datetime64("2020-01-01"))
    tf.constant(np.array([1, 2]), tf.string)
    tf.constant(np.longdouble(1))
    tf.constant(np.zeros(2, [("a", int)]))
    tf.constant(np.timedelta64(1))
    tf.constant(__import__("decimal").Decimal(1))
    tf.constant(__import__("pathlib").Path("a"))
    tf.constant({"a": 1})
    tf.constant(np.array([1, 2], object))
    tf.convert_to_tensor(tf.constant(1), tf.float32)
    tf.convert_to_tensor({})
    tf.convert_to_tensor(tf.TensorShape([2, None]))
    tf.constant([1, 2]) + 1.5
    tf.constant([1, 2]) + [1.5, 2.5]
    tf.constant([1, 2]) + "a"
    tf.constant("a") + 1
    1.5 + tf.constant([1, 2])
    tf.constant(1) + tf.constant(1.5)
    tf.constant(5) + tf.constant(5, tf.int64)
    tf.constant(5, tf.uint8) * 2.0
    tf.constant(5, tf.uint8) * tf.constant(2.0)
    tf.constant([1, 2]) + [1, 2, 3]
    tf.constant(1) == "a"
    tf.constant(1) == 1.5
    tf.constant([1, 2]) == tf.constant([1.0, 2])
    tf.constant([1, 2]) == [None, 2]
    tf.constant(5) < "a"
    tf.constant(5) < 2.5
    tf.constant("a") * 2
    tf.constant(1) // 0
    tf.constant(1) % 0
    tf.constant(2) ** -1
    tf.constant(True) / 2
    tf.constant([1, 2])[5]
    tf.constant([[1, 2], [3, 4]])[-3]
    tf.constant([[1, 2], [3, 4]])[0, 5]
    tf.constant([[1, 2], [3, 4]])[0, 0, 0]
    tf.constant([1, 2, 3])[[0, 1]]
    tf.constant([1, 2, 3])[np.array([0, 1])]
    tf.constant([1, 2, 3])[tf.constant([0, 1])]
    tf.constant([1, 2, 3])[tf.constant(1.0)]
    tf.constant([1, 2])[1.5]
    tf.constant([1, 2])["a"]
    tf.constant([1, 2])[True]
    tf.constant([1, 2, 3])[::0]
    tf.constant("x")[0]
    list(tf.constant(1))
    len(tf.constant(1))
    int(tf.constant([1]))
    float(tf.constant([1]))
    float(tf.constant("x"))
    bool(tf.constant([1, 2]))
    hash(tf.constant(1))
    tf.constant([1, 2]).name
    tf.constant([1, 2]).op
    tf.constant([1, 2]).set_shape([3])
    f"{tf.constant('a'):>5}"
    tf.string.min
    tf.bool.max
    tf.as_dtype(int)
    tf.as_dtype("foo")
    tf.as_dtype(None)
    tf.as_dtype([1])
    tf.as_dtype(np.datetime64)
    tf.TensorShape([-1])
    tf.TensorShape("a")
    tf.TensorShape([1.5])
    tf.TensorShape(None).as_list()
    tf.TensorShape([2, 3])[5]
    len(tf.TensorShape(None))
    list(tf.TensorShape(None))
    tf.TensorShape([2, None]).merge_with([3, 5])
    tf.TensorShape([2, None]).with_rank(3)
    tf.TensorShape([2, None]).with_rank_at_least(3)
    tf.TensorShape([2, None]).assert_has_rank(3)
    tf.TensorShape([2, None]).assert_is_fully_defined()
    tf.TensorShape([2, None]).assert_is_compatible_with([3, 3])
    tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 5])
    tf.SparseTensor([[0, 1], [1, 2]], [5], [2, 3])
    tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 0]], [5, 6], [2, 3]))
    tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 1]], [5, 6], [2, 3]))
    tf.sparse.to_dense(tf.SparseTensor([[0, 1], [0, 7]], [5, 6], [2, 3]))
    tf.sparse.to_dense([1])
    tf.SparseTensor([[0, 1]], [5], [2, 3])[0]
    tf.cast("a", tf.int32)
    tf.cast(1, tf.string)
    tf.range(3, 1)
    tf.range(1, 3, -1)
    tf.range(1, 3, 0)
    tf.constant(1) / 2.5
    2.5 / tf.constant(1)
    tf.reshape([1, 2, 3], [2, 2])
    tf.reshape([1, 2, 3], [2, -1])
    tf.reshape([1, 2, 3], [-1, -1])
    tf.squeeze([1, 2], 0)
    tf.squeeze([1, 2], 3)
    tf.expand_dims([1, 2], 3)
    tf.stack([[1], [1, 2]])
    tf.stack([tf.constant(1), tf.constant(1.5)])
    tf.concat([[1], [[2]]], 0)
    tf.concat([[[1, 2]], [[1, 2, 3]]], 0)
    tf.concat([[1], [2]], 1)
    tf.gather([1, 2], [5])
    tf.gather([1, 2], 5)
    tf.split([1, 2, 3], 2)
    tf.ensure_shape([1, 2], [3])
    tf.where([True], 1)
    tf.boolean_mask([1, 2], True)
    tf.strings.to_number("x")
    tf.strings.substr(["aé"],5,1,unit="UTF8_CHAR")
    tf.strings.substr(["aé"],-3,1,unit="UTF8_CHAR")
    tf.strings.substr(["hello","world"],[1,2],[3])
    tf.strings.substr(["hello","world"],[1,2,3],[1,2,3])
    tf.strings.substr(["hello","world"],1,[1,2])
    tf.strings.substr(["hello","world"],[1,9],[1,2])
    tf.strings.reduce_join([["a","b"],["c","d"]],axis=[0,0])
    tf.saturate_cast([True,False],tf.int32)
    tf.saturate_cast([True,False],tf.bool)
    tf.saturate_cast([1,2],tf.bool)
    tf.saturate_cast("a",tf.int32)
    tf.ragged.constant([[[1],[2,3]],[],[[4,5,6]]]).row_lengths(axis=3)
    tf.ragged.constant([[1],[2,3]]).row_lengths(axis=2)
    tf.strings.as_string([1.5,-2],fill="x",width=12)
    tf.strings.as_string([1.5,-2],fill="00",width=12)
    tf.strings.as_string([1,2],scientific=True)
    tf.strings.as_string([1,2],shortest=True)
    tf.strings.as_string([1,2],precision=2)
    tf.strings.as_string([True],precision=2)
    tf.strings.as_string([1.5],scientific=True,shortest=True)
    tf.pad([1,2,3],[[3,0]],"REFLECT")
    tf.pad([1,2,3],[[0,3]],"REFLECT")
    tf.pad([1,2,3],[[4,0]],"SYMMETRIC")
    tf.pad([1,2,3],[[-1,0]])
    tf.pad([1,2,3],[[-1,0]],"REFLECT")
    tf.pad([],[[1,0]],"REFLECT")
    tf.pad([1,2,3],[1,0])
    tf.pad([1,2,3],[[1]])
    tf.pad([1,2,3],[[1,1,1]])
    tf.clip_by_value([1,2,3],[[0],[1]],5)
    tf.clip_by_value(1,[0,2],5)
    tf.clip_by_value([1,2,3],0.5,2)
    tf.clip_by_value([1,2,3],0,[1,2])
    tf.split([1,2,3,4],[1,3],num=3)
    tf.split([1,2,3,4],[2,-1,-1])
    tf.split([1,2,3,4],[[2,2]])
    tf.one_hot([0,1],3,on_value=1.0,off_value=0)
    tf.one_hot([0,1],3,on_value=1,off_value=0.0)
    tf.one_hot([0,1],3,on_value=np.float64(1),off_value=np.float32(0))
    tf.one_hot([0,1],3,on_value=tf.constant(5),off_value=2,dtype=tf.float32)
    tf.one_hot([0,1],3,on_value=5.0,dtype=tf.int32)
    tf.one_hot([0,1],3,on_value=True)
    tf.one_hot([0,1],3,on_value=[1,2])
    tf.one_hot([0,1],-1)
    tf.one_hot([0,1],[3])
    tf.image.rgb_to_grayscale(np.zeros([2,2,1],np.uint8))
    tf.image.rgb_to_grayscale(np.zeros([2,2,4],np.uint8))
    tf.image.adjust_contrast(np.ones([2,2,3],np.float32),[1.,2.,3.])
    tf.image.adjust_contrast(np.ones([2,2],np.float32),2.)
    tf.image.adjust_saturation(np.ones([2,2,3],np.float32),[1.,2.])
    tf.image.adjust_saturation(np.ones([2,2,3],np.float32),[1.])
    tf.image.adjust_saturation(np.ones([2,2,1],np.float32),1.)
    tf.image.adjust_saturation(np.ones([2,3],np.float32),1.)
    tf.image.adjust_hue(np.ones([2,2,4],np.float32),.1)
    tf.image.adjust_hue(np.ones([3],np.float32),.1)
    tf.image.adjust_hue(np.ones([2,2,3],np.float32),1.5)
    tf.image.rgb_to_hsv(np.ones([1,1,4],np.float32))
    tf.image.hsv_to_rgb(np.ones([1,1,2],np.float32))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)]*2,weights=[1,2]))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)]*2,weights=[[1.,2.]]))
    list(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)],weights=[1]))
    list(tf.data.Dataset.sample_from_datasets([]))
    tf.image.grayscale_to_rgb(tf.zeros([2,2,2]))
    tf.image.grayscale_to_rgb(tf.zeros([2,2,3]))
    tf.image.grayscale_to_rgb(tf.zeros([1]))
    tf.image.grayscale_to_rgb(tf.zeros([]))
    tf.image.adjust_hue(tf.ones([1,1,3]),tf.constant([.1]))
    tf.image.adjust_hue(tf.ones([1,1,3]),tf.constant(1.5))
    tf.image.adjust_contrast(tf.ones([1,1,3]),tf.constant([1.]))
    tf.image.adjust_contrast(np.ones([2],np.float32),2.)
    tf.image.adjust_saturation(np.ones([3],np.uint8),2.)
    tf.image.adjust_saturation(np.ones([2,2,4],np.uint8),2.)
    tf.image.adjust_brightness(tf.ones([1,1,3]),[.1,.2])
    tf.image.rgb_to_hsv(np.ones([],np.float32))
    tf.strings.substr(["hello","world"],9,2)
    tf.strings.substr(["hello","world"],-9,2)
    tf.strings.substr("hello",9,2)
    tf.strings.substr([["hello"]],[[9]],[[2]])
    tf.strings.as_string([True],scientific=True)
    tf.strings.as_string([True],shortest=True,fill="x")
    tf.strings.as_string(np.uint8([7]),precision=2)
    tf.split([1,2,3,4],[2,1])
    tf.split([1,2,3,4],[-1,5])
    tf.split([1,2,3,4],3)
    tf.split([1,2,3,4],tf.constant([1,3]),num=1)
    tf.split([1,2,3,4],2.0)
    tf.clip_by_value([[1],[2]],[0,2],5)
    tf.clip_by_value([1.,2.],[0.,1.,2.],5.)
    tf.clip_by_value([1,2],0,[[1],[2]])
    tf.clip_by_value([1,2],tf.constant(0.),1)
    tf.one_hot([0],2,on_value=3,off_value=[0,1])
    tf.one_hot([0],2,on_value=True,off_value=0)
    tf.one_hot([0],2,dtype=tf.string)
    tf.one_hot([0],2,dtype=tf.bool)
    tf.pad([[1,2],[3,4]],[[1,1],[2,0]],"REFLECT")
    tf.pad([[1,2],[3,4]],[[1,1]],"REFLECT")
    tf.pad(np.zeros([0]),[[0,0]],"REFLECT")
""")

# Errors whose text only begins in the same way: TensorFlow appends a list of types or a hint.
PREFIXES = [
    ("tf.constant([1.0, 2]) @ tf.constant([1.0, 2])", "In[0] "),  # the rest depends on the processor
    ("tf.one_hot([1.0], 3)", "Value for attr 'TI' of float is not in the list of allowed values"),
    ("tf.one_hot(tf.constant([1.0], tf.float64), 3)", "Value for attr 'TI' of double is not in the list"),
    ("tf.constant('a') < 'b'", "Value for attr 'T' of string is not in the list of allowed values"),
    ("tf.constant(True) < False", "Value for attr 'T' of bool is not in the list of allowed values"),
    ("tf.constant(True) + True", "Value for attr 'T' of bool is not in the list of allowed values"),
    ("-tf.constant(True)", "Value for attr 'T' of bool is not in the list of allowed values"),
    ("-tf.constant(1, tf.uint8)", "Value for attr 'T' of uint8 is not in the list of allowed values"),
    ("abs(tf.constant('a'))", "Value for attr 'T' of string is not in the list of allowed values"),
    ("~tf.constant(5.0)", "Value for attr 'T' of float is not in the list of allowed values"),
    ("tf.constant(5.0) & 1.0", "Value for attr 'T' of float is not in the list of allowed values"),
    ("tf.sqrt(4)", "Value for attr 'T' of int32 is not in the list of allowed values"),
    ("tf.constant([1, 2]).T", "EagerTensor object has no attribute 'T'"),
    ("tf.constant([1, 2]).tolist()", "EagerTensor object has no attribute 'tolist'"),
    ("tf.constant([1, 2]).reshape", "EagerTensor object has no attribute 'reshape'"),
]

PREFIXES += [
    ("tf.py_function(lambda: tf.constant(1), [], tf.float32)", "ValueError: Tensor conversion requested"),
    (
        "tf.py_function(lambda: 1.5, [], tf.int32)",
        "TypeError: Cannot convert 1.5 to EagerTensor of dtype int32",
    ),
    ("tf.py_function(lambda: [][1], [], tf.int32)", "IndexError: list index out of range"),
    ("tf.py_function(lambda: {}['a'], [], tf.int32)", "KeyError: 'a'"),
    ("tf.py_function(lambda: int('a'), [], tf.int32)", "ValueError: invalid literal for int()"),
    ("tf.py_function(lambda: (1,), [], [tf.int32, tf.int32])", "pyfunc_"),
    (
        'tf.strings.substr(["abc"],1,1,unit="FOO")',
        'Value for attr \'unit\' of "FOO" is not in the list of allowed values: "',
    ),
    (
        'tf.strings.length(["abc"],unit="FOO")',
        'Value for attr \'unit\' of "FOO" is not in the list of allowed values: "',
    ),
    (
        'tf.strings.substr(["hello"],1.5,2)',
        "Value for attr 'T' of float is not in the list of allowed values: int3",
    ),
    ("tf.split([1,2,3,4],0)", "Value for attr 'num_split' of 0 must be at least minimum 1"),
    ("tf.split([1,2,3,4],-1)", "Value for attr 'num_split' of -1 must be at least minimum 1"),
    (
        "tf.image.rgb_to_hsv(tf.constant([[1,2,3]]))",
        "Value for attr 'T' of int32 is not in the list of allowed values: half",
    ),
    (
        "tf.image.hsv_to_rgb(tf.constant([[1,2,3]]))",
        "Value for attr 'T' of int32 is not in the list of allowed values: half",
    ),
    ("tf.pad([1,2],[[1.5,1]])", "Value for attr 'Tpaddings' of float is not in the list of allowed valu"),
]

# Expressions whose value differs on purpose, and the reason.
DIFFERENT = [
    ("np.dtype(tf.int64)", "numpy takes our dtypes, TensorFlow's are refused"),
    ("np.zeros(2, tf.float32)", "numpy takes our dtypes, TensorFlow's are refused"),
    ("tf.constant(np.bytes_(b'a\\x00'))", "no byte is lost"),
    ("tf.py_function(lambda: [1, 2], [], tf.int32)", "TensorFlow takes the first element and drops the rest"),
    ("tf.constant([tf.constant(1), 2])", "tf.constant stacks tensors as tf.convert_to_tensor does"),
    ("tf.saturate_cast(np.float32(1e30), tf.int64)", "TensorFlow gives the least number, not the greatest"),
    ("tf.saturate_cast(np.float64(1e30), tf.int64)", "TensorFlow gives the least number, not the greatest"),
    ("tf.saturate_cast(np.float32(1e30), tf.uint64)", "TensorFlow gives half of the greatest number"),
]
