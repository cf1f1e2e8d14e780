"""Chapter 5: Generators."""
