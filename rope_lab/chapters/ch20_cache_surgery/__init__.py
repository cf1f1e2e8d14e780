"""Chapter 20: Surgery on the cache."""
