"""The modules of PyFlink by their own names."""
