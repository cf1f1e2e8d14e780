"""Chapter 6: Block diagonalisation."""
