"""Named lists of runs, and what carries them out."""
