"""CREATE TABLE statements of other SQL engines, converted to schemas and back."""
