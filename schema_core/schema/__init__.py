"""What a row is: schemas as written, schemas with every type known, and the way between them."""
