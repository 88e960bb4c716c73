"""The modules of `pyflink.table` by their own names."""
