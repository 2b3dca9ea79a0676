"""Programs that pages of the site load and run: some from npm, pinned by their hash, and the checker itself, packed."""
