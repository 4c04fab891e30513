"""The viewer: a local page that shows what is in the files."""
