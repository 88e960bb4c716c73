"""The Spark session: `session.JobSession` opens it, with its settings and its JVM."""
