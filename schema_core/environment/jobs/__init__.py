"""Jobs: prepared, running, and their clients."""
