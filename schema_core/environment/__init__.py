"""What a user holds: settings, options, tables, statements, and the seams to what runs them."""
