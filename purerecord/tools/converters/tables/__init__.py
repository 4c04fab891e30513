"""Tables: CSV.

csv_cells     the cells of CSV files, as RFC 4180 has them
csv_types     what the cells of a column hold
csv_tables    CSV and TSV
"""
