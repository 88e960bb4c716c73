"""Diagrams and pages of HTML."""
