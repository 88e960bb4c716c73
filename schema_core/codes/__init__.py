"""Documentation of the error codes, one page for each."""
