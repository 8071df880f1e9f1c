"""Grading: hand-ins in, points and reasons out."""
