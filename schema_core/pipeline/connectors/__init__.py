"""Where tables are, and how Spark reads and writes them: one file a connector."""
