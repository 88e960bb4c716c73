"""Map Flink's types and schemas to Arrow's, and back."""
