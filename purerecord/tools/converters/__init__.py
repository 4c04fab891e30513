"""Converting: files of other formats to TFRecords, and back.

convert        ``convert``: the direction, the format, the report
formats        the formats in a table, and how to add one
job            one conversion, as the module of a format gets it
report         what a conversion has done
inputs         files that are read as plain bytes or lines
outputs        files that appear whole or not at all
column_types   what a feature holds: inferred, or given by a schema
survey         what the features of TFRecords hold, before they are written as another format
row_lists      columns of Examples as lists of values, row by row
json_lines     JSON lines
tar_members    the members of tar archives, read forward
webdataset     tar archives as webdataset has them
array_record   ArrayRecord, the format of grain
tables/        tables: CSV, Parquet, Arrow and arrays of numpy
pictures/      pictures in folders, with classes or boxes
"""
