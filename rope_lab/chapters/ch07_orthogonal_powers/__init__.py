"""Chapter 7: Orthogonal powers."""
