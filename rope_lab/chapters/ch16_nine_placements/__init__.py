"""Chapter 16: Nine placements."""
