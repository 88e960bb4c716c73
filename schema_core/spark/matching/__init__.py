"""MATCH_RECOGNIZE on Spark: `match_frames` finds the matches of sorted rows with `automaton`."""
