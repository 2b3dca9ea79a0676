"""What pages of the site load and run: programs from npm, pinned by their hash, and the checker itself, packed."""
