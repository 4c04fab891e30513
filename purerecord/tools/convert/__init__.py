"""Converting: files of other formats to TFRecords, and back."""
