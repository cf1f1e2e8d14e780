"""Chapter 4: The relative identity, proven."""
