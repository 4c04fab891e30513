"""The error for names that TensorFlow has and ``purerecord.tf`` does not.

``__getattr__ = missing("image")`` at the end of a module makes ``tf.image.ssim`` an ``AttributeError`` that
says what purerecord covers and how to list its names. This module does not know which names exist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Descriptions of the best-known parts of TensorFlow.
_ABOUT = {
    "GradientTape": "automatic differentiation",
    "Module": "models",
    "autodiff": "automatic differentiation",
    "autograph": "graphs from Python code",
    "estimator": "models",
    "experimental": "experiments of the TensorFlow runtime",
    "feature_column": "input layers of models",
    "keras": "models, layers and training",
    "layers": "layers of models",
    "lite": "models on small devices",
    "losses": "losses for training",
    "nn": "neural networks",
    "optimizers": "training",
    "profiler": "profiling of the TensorFlow runtime",
    "quantization": "quantised numbers",
    "saved_model": "stored models",
    "signal": "signal processing",
    "summary": "logs for TensorBoard",
    "tpu": "TPUs",
    "xla": "compilation of graphs",
}


def missing(namespace: str = "") -> Callable[[str], Any]:
    """A ``__getattr__`` for the module of ``tf.<namespace>`` that raises the explaining error."""
    prefix = f"tf.{namespace}." if namespace else "tf."

    def __getattr__(name: str) -> Any:  # noqa: N807 - a module's ``__getattr__``
        if name.startswith("__"):
            raise AttributeError(f"module 'purerecord.{prefix[:-1]}' has no attribute {name!r}")
        about = _ABOUT.get(name) if not namespace else None
        what = f"{prefix}{name} ({about})" if about else f"{prefix}{name}"
        raise AttributeError(
            f"{what} is not in purerecord.tf, which covers TFRecord input pipelines; "
            "python -m purerecord.tf lists what is there, and TensorFlow itself has the rest"
        )

    return __getattr__
