"""Chapter 19: Longer texts."""
