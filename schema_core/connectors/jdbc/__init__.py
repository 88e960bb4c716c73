"""The connector `jdbc`."""
