"""Chapter 2: Many planes."""
