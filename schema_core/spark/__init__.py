"""What runs: Java and Spark found and started, connectors, jobs, the Spark planner."""
