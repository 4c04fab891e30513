"""Tables: CSV, Parquet, Arrow and arrays of numpy.

csv_cells      the cells of CSV files, as RFC 4180 has them
csv_types      what the cells of a column hold
csv_tables     CSV and TSV
fitting        columns in the types of a schema
arrow_batches  Arrow's record batches to records, and back
parquet        Parquet files
arrow_ipc      Arrow's own files and streams
npy_streams    arrays in numpy's format, some rows at a time
numpy_arrays   NPZ and NPY
"""
