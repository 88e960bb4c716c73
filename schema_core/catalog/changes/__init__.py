"""Changes of tables, their application, and the history of columns that they leave."""
