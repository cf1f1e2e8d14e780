"""Chapter 3: Two layouts."""
