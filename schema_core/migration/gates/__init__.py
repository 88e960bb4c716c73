"""Gates of migrations: what would lose rows, break views or not be followed by files."""
