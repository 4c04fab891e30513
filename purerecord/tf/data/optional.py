"""``tf.experimental.Optional``: the next element of an iterator, or nothing at its end."""

from __future__ import annotations

from typing import Any

from ... import public
from .._values.nest import apply
from .._values.shapes import TypeSpec
from .._values.tensor import EagerTensor, of_array
from ..errors import invalid
from .structure import Element, Spec, as_leaf, placeholder, spec_of


@public
class OptionalSpec(TypeSpec):
    """The spec of an optional whose value has the spec ``element_spec``."""

    __slots__ = ()

    def __init__(self, element_spec: Spec) -> None:
        self._arguments = (element_spec,)

    @property
    def element_spec(self) -> Spec:
        """The spec of the value."""
        return self._arguments[0]

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Optional

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """The spec of an optional."""
        return OptionalSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether this is an optional with such a value, or the spec of one."""
        return bool(getattr(spec_or_value, "_type_spec", spec_or_value) == self)

    def __hash__(self) -> int:
        return hash(OptionalSpec)  # the spec of the value may be a dictionary

    def __repr__(self) -> str:
        return f"OptionalSpec({self.element_spec!r},)"

    def _placeholder(self, length: int) -> Optional:
        return Optional.from_value(placeholder(self.element_spec, length))


@public
class Optional:
    """A value that may be missing."""

    def __init__(self, values: tuple[Element, ...], element_spec: Spec) -> None:
        """Programs use ``from_value`` and ``empty``."""
        self._values = values
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with a value."""
        element = apply(as_leaf, value)
        return Optional((element,), apply(spec_of, element))

    @staticmethod
    def empty(element_spec: Spec) -> Optional:
        """An optional without a value, which would have this spec."""
        return Optional((), element_spec)

    def has_value(self, name: str | None = None) -> EagerTensor:
        """Whether there is a value."""
        return of_array(bool(self._values))

    def get_value(self, name: str | None = None) -> Element:
        """The value; without one an ``InvalidArgumentError``."""
        if not self._values:
            raise invalid("The given optional does not have a value.")
        return self._values[0]

    @property
    def element_spec(self) -> Spec:
        """The spec of the value."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)
