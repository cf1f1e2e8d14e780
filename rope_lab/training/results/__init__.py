"""Result cards: reading, pairing, tables."""
