"""Chapter 13: One head that looks ahead."""
