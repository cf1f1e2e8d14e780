"""Chapter 11: Complex form and the sigma basis."""
