"""Chapter 10: From attention to a complex RNN."""
