"""Changes of tables, their application, and the former names that they leave."""
