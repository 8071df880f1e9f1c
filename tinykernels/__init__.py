"""Kernels in NumPy and Numba, built from the notebooks of the course by `tito export`."""
