"""What the commands of `rope-lab` do once their command line has been read."""
