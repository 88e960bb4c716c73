"""A catalog in a SQL database, through SQLAlchemy."""
