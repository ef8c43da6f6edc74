"""Scores as pure functions of texts and numbers. No Django, no files."""
