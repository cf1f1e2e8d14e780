"""Corpora: sources, downloads, tokenizers, batches."""
