"""Explanations, lineage, diagrams and pages of HTML. Lower layers call it by `base.plugins`."""
