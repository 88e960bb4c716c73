"""The connector `filesystem` and its formats."""
