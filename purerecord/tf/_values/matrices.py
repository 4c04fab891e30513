"""Matrices: ``tf.matmul``, ``tf.linalg.inv``, ``diag``, ``norm``, ``einsum`` and so on, by numpy.

Decompositions may differ from TensorFlow's in signs and last bits. This module does not know ragged tensors.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, float32, of_numpy
from ..errors import FailedPreconditionError, invalid
from . import ragged_operations
from .convert import Array
from .dispatch import for_ragged
from .operators import binary, check_kind, in_float32, shape_text
from .tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor, of_array, to_numpy


def _swapped(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)


@for_ragged(ragged_operations.matmul)
def matmul(  # noqa: PLR0917 - TensorFlow's signature
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> EagerTensor:
    """The product of matrices."""
    if transpose_a and adjoint_a:
        raise ValueError(
            f"Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`={transpose_a}, "
            f"`adjoint_a`={adjoint_a}."
        )
    if transpose_b and adjoint_b:
        raise ValueError(
            f"Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`={transpose_b}, "
            f"`adjoint_b`={adjoint_b}."
        )
    first = convert_to_tensor(a)
    one, two = first._array, convert_to_tensor(b, dtype_hint=first.dtype)._array
    for number, array in enumerate((one, two)):
        if array.ndim < 2:
            raise invalid(f"In[{number}] and In[{1 - number}] ndims must be >= 2: {array.ndim}")
    if transpose_a or adjoint_a:
        one = np.conj(_swapped(one)) if adjoint_a else _swapped(one)
    if transpose_b or adjoint_b:
        two = np.conj(_swapped(two)) if adjoint_b else _swapped(two)
    return of_array(_product(np.asarray(one), np.asarray(two)))


def _product(one: Array, two: Array) -> Array:
    check_kind("MatMul", one, "fiuc")
    if one.dtype == two.dtype and one.dtype.kind == "V":
        return _product(one.astype(np.float32), two.astype(np.float32)).astype(one.dtype)
    if one.dtype == two.dtype and one.shape[-1:] == two.shape[-2:-1]:
        try:
            np.broadcast_shapes(one.shape[:-2], two.shape[:-2])
        except ValueError:
            raise invalid(
                "In[0] and In[1] must have compatible batch dimensions: "
                f"{shape_text(one.shape)} vs. {shape_text(two.shape)}"
            ) from None
    return binary("MatMul", np.matmul, one, two)


def matvec(  # noqa: PLR0917
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> EagerTensor:
    """The product of a matrix and a vector."""
    vector = convert_to_tensor(b)
    made = matmul(a, of_array(vector._array[..., None]), transpose_a=transpose_a, adjoint_a=adjoint_a)
    return of_array(made._array[..., 0])


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> EagerTensor:
    """Products and sums of elements by the letters of their dimensions, as in ``numpy.einsum``."""
    kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(kwargs)}")
    arrays = arrays_of_one_dtype("Einsum", inputs)
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    if len(terms) != len(arrays):
        raise ValueError(f"Got {len(arrays)} inputs for equation '{equation}', expecting {len(terms)}")
    check_kind("Einsum", arrays[0], "fic")
    try:
        made = np.einsum(equation.replace(" ", ""), *arrays)
    except ValueError as error:
        raise invalid(f"{error} in equation {equation!r}") from None
    return of_array(np.asarray(made).astype(arrays[0].dtype))


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> EagerTensor:
    """The sum of products along pairs of dimensions."""
    one, two = arrays_of_one_dtype("MatMul", [a, b])
    check_kind("MatMul", one, "fiuc")
    pairs = to_numpy(axes).tolist() if not isinstance(axes, int) else axes
    if isinstance(pairs, int):
        if pairs < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {pairs}.")
        if pairs > min(one.ndim, two.ndim):
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}. Received {pairs}"
            )
        chosen: Any = pairs
    else:
        if len(pairs) != 2:
            raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
        first, second = (part if isinstance(part, list) else [part] for part in pairs)
        if len(first) != len(second):
            raise ValueError(
                f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
            )
        chosen = (first, second)
    try:
        return of_array(np.asarray(np.tensordot(one, two, chosen)).astype(one.dtype))
    except (ValueError, IndexError):
        raise invalid(
            f"Matrix size-incompatible: In[0]: {shape_text(one.shape)}, In[1]: {shape_text(two.shape)}"
        ) from None


# --- Parts and diagonals ----------------------------------------------------------------------------


def _matrices(op: str, value: Any, kinds: str = "", square: bool = False) -> Array:
    array = to_numpy(value)
    if kinds:
        check_kind(op, array, kinds)
    if array.ndim < 2:
        raise invalid(f"Input tensor {0} must have rank >= 2: {shape_text(array.shape)}")
    if square and array.shape[-1] != array.shape[-2]:
        raise invalid(f"Input matrix must be square, got {array.shape[-2]} != {array.shape[-1]}")
    return array


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> EagerTensor:
    """The last two dimensions exchanged."""
    array = to_numpy(a)
    if array.ndim < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
            f"{a} with shape: {array.shape}"
        )
    return of_array(np.conj(_swapped(array)) if conjugate else _swapped(array))


def adjoint(matrix: Any, name: str | None = None) -> EagerTensor:
    """The last two dimensions exchanged, and conjugated."""
    return matrix_transpose(matrix, conjugate=True)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The diagonal and so many others below and above it; -1 for all. The rest is 0."""
    array = to_numpy(input)
    if array.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {shape_text(array.shape)}")
    lower, upper = int(to_numpy(num_lower)), int(to_numpy(num_upper))
    rows, columns = array.shape[-2:]
    for what, count, most in (("lower", lower, rows), ("upper", upper, columns)):
        if count > most:
            raise invalid(
                f"num_{what} must be negative or less or equal to number of "
                f"{'rows' if what == 'lower' else 'columns'} ({most}) got: {count}"
            )
    offset = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    kept = ((-offset <= lower) | (lower < 0)) & ((offset <= upper) | (upper < 0))
    return of_array(np.where(kept, array, array.dtype.type(0)).astype(array.dtype))


def diag(  # noqa: PLR0917 - TensorFlow's signature
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> EagerTensor:
    """A matrix with this diagonal, or batches of them; ``k`` is the number of the diagonal."""
    array = to_numpy(diagonal)
    if not array.ndim:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    place = _one_diagonal(k)
    size = array.shape[-1]
    rows, columns = int(num_rows), int(num_cols)
    least = size + max(-place, 0), size + max(place, 0)
    if rows == columns == -1:
        rows = columns = max(least)
    rows, columns = (least[0] if rows == -1 else rows), (least[1] if columns == -1 else columns)
    if rows < least[0] or columns < least[1]:
        raise invalid(f"num_rows and num_cols must be at least {least[0]} and {least[1]}")
    made = np.full((*array.shape[:-1], rows, columns), padding_value, array.dtype)
    at = np.arange(size)
    made[..., at + max(-place, 0), at + max(place, 0)] = array
    return of_array(made)


def _one_diagonal(k: Any) -> int:
    numbers = to_numpy(k).reshape(-1).tolist()
    if len(set(numbers)) != 1:
        raise NotImplementedError("bands of several diagonals are not in purerecord.tf")
    return int(numbers[0])


def diag_part(
    input: Any,  # noqa: A002 - TensorFlow's name
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> EagerTensor:
    """The diagonal of a matrix, or those of batches of them; ``k`` is its number."""
    array = to_numpy(input)
    if array.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {shape_text(array.shape)}")
    place = _one_diagonal(k)
    if not -array.shape[-2] < place < array.shape[-1] and place:
        raise invalid(
            f"lower_diag_index is out of bound: {place}. It must be between "
            f"{-array.shape[-2]} and {array.shape[-1]}"
        )
    return of_array(np.array(np.diagonal(array, place, -2, -1)))


def set_diag(
    input: Any,  # noqa: A002 - TensorFlow's name
    diagonal: Any,
    name: str = "set_diag",
    k: Any = 0,
    align: str = "RIGHT_LEFT",
) -> EagerTensor:
    """The matrix with another diagonal."""
    array, values = arrays_of_one_dtype("MatrixSetDiagV3", [input, diagonal])
    if array.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {shape_text(array.shape)}")
    place = _one_diagonal(k)
    if values.shape != np.diagonal(array, place, -2, -1).shape:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[-1] is wrong"
        )
    made = array.copy()
    at = np.arange(values.shape[-1])
    made[..., at + max(-place, 0), at + max(place, 0)] = values
    return of_array(made)


def tensor_diag(diagonal: Any, name: str | None = None) -> EagerTensor:
    """A tensor of twice the rank with these elements on its diagonal."""
    array = to_numpy(diagonal)
    if not array.ndim:
        raise invalid("Input must be at least rank 1, got 0")
    made = np.zeros((array.size, array.size), array.dtype)
    np.fill_diagonal(made, array.reshape(-1))
    return of_array(made.reshape(array.shape * 2))


def tensor_diag_part(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The diagonal of a tensor of even rank."""
    array = to_numpy(input)
    half = array.ndim // 2
    if not array.ndim or array.ndim % 2:
        raise invalid(
            f"The rank of the tensor should be even and positive, got shape {shape_text(array.shape)}"
        )
    if array.shape[:half] != array.shape[half:]:
        raise invalid(f"Invalid shape {shape_text(array.shape)}: dimensions 0 and {half} do not match.")
    size = int(np.prod(array.shape[:half], dtype=np.int64))
    return of_array(np.array(np.diagonal(array.reshape(size, size))).reshape(array.shape[:half]))


def trace(x: Any, name: str | None = None) -> EagerTensor:
    """The sum of the diagonal."""
    array = _matrices("Sum", x, "fiuc")
    return of_array(np.asarray(np.trace(array, axis1=-2, axis2=-1, dtype=array.dtype)))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> EagerTensor:
    """An identity matrix, or a batch of them."""
    for given in (num_rows, num_columns):
        if given is not None and to_numpy(given).dtype.kind not in "iu":
            raise TypeError(
                f"Arguments `num_rows` and `num_columns` must be positive integer values, not {given}"
            )
        if given is not None and to_numpy(given).ndim:
            raise invalid(f"`num_rows` and `num_columns` must be scalars, not {given}")
    rows = int(to_numpy(num_rows))
    columns = rows if num_columns is None else int(to_numpy(num_columns))
    if rows < 0 or columns < 0:
        raise invalid(f"Arguments `num_rows` and `num_columns` must be positive: {rows}, {columns}")
    matrix = np.eye(rows, columns, dtype=as_dtype(dtype).as_numpy_dtype)
    batch = () if batch_shape is None else tuple(int(length) for length in batch_shape)
    return of_array(np.array(np.broadcast_to(matrix, (*batch, *matrix.shape))))


def cross(a: Any, b: Any, name: str | None = None) -> EagerTensor:
    """The cross product of vectors of length 3."""
    one, two = arrays_of_one_dtype("Cross", [a, b])
    check_kind("Cross", one, "fiu")
    if one.shape != two.shape:
        raise invalid(
            f"Both inputs must be of same shape: {shape_text(one.shape)} vs. {shape_text(two.shape)}"
        )
    if not one.ndim:
        raise invalid("Input must be at least 1D")
    if one.shape[-1] != 3:
        raise FailedPreconditionError(None, None, "Cross-products are only defined for 3-element vectors.")
    return of_array(np.cross(one, two).astype(one.dtype))


# --- Decompositions ---------------------------------------------------------------------------------


def _of_square(
    op: str, function: Callable[[Array], Any], doc: str, singular: str = ""
) -> Callable[..., EagerTensor]:
    def operation(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
        array = _matrices(op, input, "fc", square=True)
        try:
            return of_array(np.asarray(function(array)).astype(array.dtype))
        except np.linalg.LinAlgError:
            raise invalid(singular or "Input matrix is not invertible.") from None

    operation.__doc__ = doc
    return operation


det = _of_square("MatrixDeterminant", np.linalg.det, "The determinant.")
cholesky = _of_square(
    "Cholesky",
    np.linalg.cholesky,
    "The lower triangular matrix whose product with its transpose is the matrix.",
    "Cholesky decomposition was not successful. The input might not be valid.",
)


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The inverse of a matrix."""
    array = _matrices("MatrixInverse", input, "fc", square=True)
    try:
        return of_array(np.linalg.inv(np.conj(_swapped(array)) if adjoint else array).astype(array.dtype))
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.") from None


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> EagerTensor:
    """The solution ``x`` of ``matrix @ x == rhs``."""
    one, two = arrays_of_one_dtype("MatrixSolve", [matrix, rhs])
    one = _matrices("MatrixSolve", one, "fc", square=True)
    if two.ndim != one.ndim or two.shape[:-1] != one.shape[:-1]:
        raise invalid(
            f"Input matrix and rhs are incompatible: {shape_text(one.shape)} vs. {shape_text(two.shape)}"
        )
    try:
        return of_array(np.linalg.solve(np.conj(_swapped(one)) if adjoint else one, two).astype(one.dtype))
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.") from None


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> EagerTensor:
    """The solution ``x`` of ``matrix @ x == rhs`` for a triangular matrix."""
    one, two = arrays_of_one_dtype("MatrixTriangularSolve", [matrix, rhs])
    one = _matrices("MatrixTriangularSolve", one, "fc", square=True)
    part = np.tril(one) if lower else np.triu(one)
    part = np.conj(_swapped(part)) if adjoint else part
    try:
        return of_array(np.linalg.solve(part, two).astype(one.dtype))
    except (np.linalg.LinAlgError, ValueError):
        raise invalid("Input matrix is not invertible.") from None


def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> EagerTensor:
    """The solution of ``matrix @ x == rhs`` with the least squares of errors."""
    one, two = arrays_of_one_dtype("MatrixSolveLs", [matrix, rhs])
    one = _matrices("MatrixSolveLs", one, "fc")
    turned = np.conj(_swapped(one))
    if l2_regularizer:
        square = turned @ one + float(l2_regularizer) * np.eye(one.shape[-1], dtype=one.dtype)
        return of_array(np.linalg.solve(square, turned @ two).astype(one.dtype))
    return of_array((np.linalg.pinv(one) @ two).astype(one.dtype))


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> EagerTensor:
    """The pseudo-inverse of a matrix."""
    array = to_numpy(a)
    if array.dtype.kind not in "f":
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {of_numpy(array.dtype).name}).")
    if array.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {array.ndim}).")
    limit = 10.0 * max(array.shape[-2:]) * np.finfo(array.dtype).eps if rcond is None else rcond
    return of_array(np.linalg.pinv(array, limit).astype(array.dtype))


Qr = namedtuple("Qr", "q r")
LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", "sign log_abs_determinant")


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:  # noqa: A002
    """An orthogonal and an upper triangular matrix whose product is the matrix."""
    array = _matrices("Qr", input, "fc")
    q, r = np.linalg.qr(array, "complete" if full_matrices else "reduced")
    return Qr(of_array(q), of_array(r))


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular values ``s``, and with ``compute_uv`` the matrices ``u`` and ``v``."""
    array = _matrices("Svd", tensor, "fc")
    if not compute_uv:
        return of_array(np.linalg.svd(array, compute_uv=False))
    u, s, v = np.linalg.svd(array, full_matrices)
    return of_array(s), of_array(u), of_array(np.conj(_swapped(v)))


def eigh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues and eigenvectors of a symmetric matrix, ascending."""
    array = _matrices("SelfAdjointEigV2", tensor, "fc", square=True)
    return tuple(map(of_array, np.linalg.eigh(array)))


def eigvalsh(tensor: Any, name: str | None = None) -> EagerTensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    array = _matrices("SelfAdjointEigV2", tensor, "fc", square=True)
    return of_array(np.linalg.eigvalsh(array).astype(array.dtype))


def _complex_of(array: Array) -> Any:
    return np.complex64 if array.dtype in (np.float32, np.complex64) else np.complex128


def eig(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues and eigenvectors of a matrix, which are complex."""
    array = _matrices("Eig", tensor, "fc", square=True)
    return tuple(of_array(np.asarray(part).astype(_complex_of(array))) for part in np.linalg.eig(array))


def eigvals(tensor: Any, name: str | None = None) -> EagerTensor:
    """The eigenvalues of a matrix, which are complex."""
    array = _matrices("Eig", tensor, "fc", square=True)
    return of_array(np.asarray(np.linalg.eigvals(array)).astype(_complex_of(array)))


def slogdet(input: Any, name: str | None = None) -> Any:  # noqa: A002
    """The sign of the determinant, and the logarithm of its absolute value."""
    array = _matrices("LogMatrixDeterminant", input, "fc", square=True)
    parts = np.linalg.slogdet(array)
    return LogMatrixDeterminant(*(of_array(np.asarray(part).astype(array.dtype)) for part in parts))


def logdet(matrix: Any, name: str | None = None) -> EagerTensor:
    """The logarithm of the determinant of a positive definite matrix."""
    array = cholesky(matrix)._array
    logs = np.log(np.real(np.diagonal(array, 0, -2, -1)))
    return of_array(np.asarray(2 * logs.sum(-1)).astype(array.real.dtype))


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> EagerTensor:
    """The number of singular values above ``tol``."""
    array = to_numpy(a)
    if array.dtype.kind != "f":
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {of_numpy(array.dtype).name}).")
    if array.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {array.ndim}).")
    return of_array(np.asarray(np.linalg.matrix_rank(array, tol)).astype(np.int32))


# --- Norms ------------------------------------------------------------------------------------------


def norm(
    tensor: Any,
    ord: Any = "euclidean",  # noqa: A002
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """The norm of a vector, of a matrix, or of all elements."""
    matrix = isinstance(axis, (tuple, list))
    if matrix:
        if len(axis) != 2:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", "fro", 0.5, 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro'], got {ord}")
    elif axis is not None and not isinstance(axis, int) and not hasattr(axis, "__index__"):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    if not matrix and isinstance(ord, str) and ord != "euclidean":
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    array = to_numpy(tensor)
    check_kind("Mul", array, "fc")
    axes = None if axis is None else tuple(axis) if matrix else (int(axis),)
    for place in axes or ():
        if not -array.ndim <= place < array.ndim:
            raise invalid(f"Invalid reduction dimension ({place} for input with {array.ndim} dimension(s)")
    with np.errstate(all="ignore"):
        result = in_float32(lambda x: _norm(x, ord, axes, bool(keepdims), matrix), array)
    return of_array(result.astype(array.dtype if array.dtype.kind != "c" else result.dtype))


def _norm(array: Array, order: Any, axes: Any, keepdims: bool, matrix: bool) -> Any:
    if matrix and order == 2:
        return np.linalg.norm(array, 2, axes, keepdims)
    if matrix and order in (1, np.inf):
        return np.linalg.norm(array, order, axes, keepdims)
    size = np.abs(array)
    if order in ("euclidean", "fro", 2, 2.0):
        return np.sqrt(np.sum(size * size, axes, keepdims=keepdims))
    if order == 1:
        return np.sum(size, axes, keepdims=keepdims)
    if order == np.inf:
        return np.max(size, axes, keepdims=keepdims)
    if order <= 0:
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")
    return np.sum(size**order, axes, keepdims=keepdims) ** (1 / order)


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> Any:  # noqa: A002
    """The tensor divided by its norm, and the norm."""
    size = norm(tensor, ord, axis, True)
    return convert_to_tensor(tensor) / size, size


def global_norm(t_list: Any, name: str | None = None) -> EagerTensor:
    """The Euclidean norm of all elements of several tensors."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    arrays = [to_numpy(part) for part in t_list if part is not None]
    total = sum((np.sum(array * array) for array in arrays), arrays[0].dtype.type(0))
    return of_array(np.asarray(np.sqrt(total)).astype(arrays[0].dtype))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> EagerTensor:
    """The tensor scaled down to a norm of at most ``clip_norm``."""
    array = to_numpy(t)
    check_kind("Sqrt", array, "fc")
    limit = convert_to_tensor(clip_norm, of_numpy(array.dtype))._array
    places = None if axes is None else tuple(np.atleast_1d(axes).tolist())
    size = np.sqrt(np.sum(array * array, places, keepdims=True))
    return of_array(np.asarray(array * limit / np.maximum(size, limit)).astype(array.dtype))


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """Several tensors scaled down together to a norm of at most ``clip_norm``, and their norm."""
    size = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    limit = convert_to_tensor(clip_norm, size.dtype)._array
    with np.errstate(all="ignore"):
        factor = limit * np.minimum(1 / size._array, 1 / limit)
    clipped = [
        None if part is None else of_array((to_numpy(part) * factor).astype(to_numpy(part).dtype))
        for part in t_list
    ]
    return clipped, size
