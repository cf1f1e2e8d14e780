"""Chapter 14: A tiny GPT, and the luck of its seeds."""
