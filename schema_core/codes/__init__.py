"""What every code of a mistake means: one page each, for people to read."""
