"""Chapter 17: Which RoPE is this?"""
