"""What the page before the chapters owns."""
