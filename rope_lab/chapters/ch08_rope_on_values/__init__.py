"""Chapter 8: RoPE on values."""
