# Built from the modules by tito export; edit them, not this file.
"""The files of tinykernels.simd."""
