"""Map Flink's types and schemas to Spark's, and back, without a JVM."""
