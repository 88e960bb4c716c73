"""A catalog of the tables that databases have, with the connector `jdbc`."""
