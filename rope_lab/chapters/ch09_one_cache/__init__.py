"""Chapter 9: One cache."""
