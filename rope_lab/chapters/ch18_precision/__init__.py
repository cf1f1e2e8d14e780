"""Chapter 18: Precision and long positions."""
