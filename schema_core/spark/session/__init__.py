"""The Spark session: its start, its settings and its JVM."""
