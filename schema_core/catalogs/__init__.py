"""Catalogs that store objects outside the process, and the text encodings they share."""
