"""How others see a schema: property maps, Arrow, Spark. One file a format, all the same shape."""
