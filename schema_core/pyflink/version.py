"""The version of PyFlink whose names these modules have."""

__version__ = "2.3.0"

__all__ = ["__version__"]
