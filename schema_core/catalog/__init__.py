"""Where objects are kept: catalogs, temporary objects, and the manager that finds them."""
