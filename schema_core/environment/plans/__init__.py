"""Compiled plans, plan trees of EXPLAIN, and sessions that run nothing."""
