"""Chapter 15: CRoPE's tables, measured again."""
