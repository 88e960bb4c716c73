"""For the shell: one file a command. Typer and rich are imported here and nowhere else."""
