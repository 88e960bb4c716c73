"""Translations of functions of dates, times and timestamps."""
