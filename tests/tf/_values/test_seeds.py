"""The sequences of random operations, alone and in functions."""

from __future__ import annotations

from typing import Any

import pytest

from purerecord import tf
from purerecord.tf._values.seeds import Operations, bodies


def draw(seed: int | None = None) -> float:
    return float(tf.random.uniform([], seed=seed))


@pytest.fixture(autouse=True)
def _no_seed_afterwards() -> Any:
    tf.random.set_seed(None)
    yield
    tf.random.set_seed(None)


def test_operations_alone_share_the_sequence_of_their_seed() -> None:
    tf.random.set_seed(1)
    alone = [draw(5) for _ in range(4)]
    assert len({*alone}) == 4
    assert Operations(1).call(lambda: [draw(5), draw(5)]) == [alone[0], alone[0]]


def test_operation_in_a_function_has_its_own_sequence() -> None:
    operations = Operations(None)
    calls = [operations.call(lambda: (draw(5), draw(6), draw(5))) for _ in range(3)]
    assert all(one == three != two for one, two, three in calls)
    assert len({*calls}) == 3


def test_operations_without_seeds_differ_and_come_again_with_the_global_seed_only() -> None:
    for seed, again in ((1, True), (None, False)):
        one, two = (Operations(seed).call(lambda: (draw(), draw())) for _ in range(2))
        assert (one == two) is again
        assert one[0] != one[1]


def test_body_of_a_loop_is_one_operation_and_the_branches_of_a_condition_are_two() -> None:
    def function() -> list[float]:
        (body,) = bodies(lambda: draw(5))
        loop = [body(), body(), body()]
        yes, no = bodies(lambda: draw(5), lambda: draw(5))
        return [*loop, yes(), no(), draw(5)]

    first, second, third, yes, no, after = Operations(None).call(function)
    assert first == yes == no == after
    assert len({first, second, third}) == 3


def test_function_in_a_function_is_a_part_of_it_and_python_functions_are_not() -> None:
    inner = tf.function(lambda: draw(5))
    one, two = Operations(None).call(lambda: (inner(), inner()))
    assert one == two
    one, two = Operations(None).call(lambda: [tf.py_function(lambda: draw(5), [], tf.float32) for _ in "ab"])
    assert float(one) != float(two)


def test_tf_function_goes_on_until_the_seed_is_set() -> None:
    function = tf.function(lambda: draw(5))
    first = [function(), function()]
    assert first[0] != first[1]
    tf.random.set_seed(3)
    assert [function(), function()] == first
