"""Commits of jobs: staged files, transactions and recovery."""
