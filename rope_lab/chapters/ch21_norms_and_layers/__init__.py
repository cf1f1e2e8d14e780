"""Chapter 21: Norms, and layers that do not turn."""
