"""What a SELECT returns: relations with typed columns, and how they are worked out."""
