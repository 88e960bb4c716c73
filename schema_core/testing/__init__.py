"""For those who build on the library: strategies to draw its values from, contracts to keep."""
