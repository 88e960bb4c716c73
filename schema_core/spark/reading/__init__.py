"""Reading on Spark: `reader.Reader` returns queries as frames, of tables and of the user's rows."""
