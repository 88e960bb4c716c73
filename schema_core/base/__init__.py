"""What all layers use: text, tokens, paths, secrets, caches and laziness. Standard library only."""
