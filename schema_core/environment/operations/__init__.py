"""What each statement does: one function per kind of statement."""
