"""``tf.test.TestCase``. The interop tests compare its assertions with TensorFlow's."""

from __future__ import annotations

import unittest

from purerecord import tf


def test_assertions_fail_where_they_must() -> None:
    class Case(tf.test.TestCase):
        def test_equal(self) -> None:
            self.assertAllEqual(tf.constant([1, 2]), [1, 3])

        def test_close(self) -> None:
            self.assertAllClose({"a": tf.constant([1.0])}, {"a": [1.0 + 1e-7]})

    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(outcome)
    assert len(outcome.failures) == 1
    assert "test_equal" in str(outcome.failures[0][0])
    assert not outcome.errors
