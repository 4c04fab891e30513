"""Folders of tensorflow-datasets, without it: ``purerecord.tfds``.

    features    ``features.json`` → feature specs, and the meaning of stored values
    folder      ``TFDSFolder``: the splits of a folder and their files

This folder must not know how records are read or parsed.
"""

from .features import TFDSFeature
from .folder import TFDSFolder, TFDSSplit

__all__ = ["TFDSFeature", "TFDSFolder", "TFDSSplit"]
