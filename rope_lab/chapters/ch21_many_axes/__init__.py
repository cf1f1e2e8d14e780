"""Chapter 21: Many axes, and layers that do not turn."""
