"""Explanations, lineage, diagrams and HTML. Lower layers call it through `base.plugins`."""
