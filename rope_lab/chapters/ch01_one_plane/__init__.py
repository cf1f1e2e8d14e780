"""Chapter 1: One plane."""
