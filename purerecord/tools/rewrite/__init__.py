"""Rewriting: TFRecords to other TFRecords, in shards that appear when all are complete."""
