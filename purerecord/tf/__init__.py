"""TensorFlow's names for TFRecord input pipelines, without TensorFlow: ``import purerecord.tf as tf``."""
