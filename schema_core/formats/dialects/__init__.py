"""What is known of other engines: types, spelling, grammar. Nothing here needs sqlglot."""
