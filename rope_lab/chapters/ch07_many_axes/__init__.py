"""Chapter 7: Many axes."""
