"""The checks: each compares one property, and its message says what to do about it."""
