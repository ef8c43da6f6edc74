"""Judges: models that say how far a generated insight states the same as a reference, and voters."""
