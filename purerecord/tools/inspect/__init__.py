"""Inspecting: what is in the files."""
