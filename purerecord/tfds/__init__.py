"""Folders of tensorflow-datasets, without it: ``purerecord.tfds``.

features    ``features.json`` → feature specs, and values → what the feature means
folder      ``TFDSFolder``: the splits of a folder and their files
"""

from .features import TFDSFeature
from .folder import TFDSFolder, TFDSSplit

__all__ = ["TFDSFeature", "TFDSFolder", "TFDSSplit"]
