"""Chapter 12: What CRoPE removes."""
