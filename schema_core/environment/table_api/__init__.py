"""PyFlink's Table API: tables, windows, descriptors and tables of values."""
