"""Workloads of bytes and of 4-bit weights: exact results, whose bytes count, and from where."""
