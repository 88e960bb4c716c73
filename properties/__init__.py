"""Laws the library keeps, one file a family, and how exactly it agrees with the recorded Flink."""
