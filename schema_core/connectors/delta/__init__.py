"""The connector `delta`."""
