"""Relational semantics of queries: from syntax trees to relations with typed columns."""
