"""Negative indices give addresses before the array."""

EXERCISE = "traced_array"
FAILS_IN = "traced_array-test"
PHRASE = "a negative index counts from the end"
SOURCE = """\
class TracedArray:
    def __init__(self, array, base=0, touch=None):
        self.array, self.base, self.touch = array, base, touch
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.ndim, self.size, self.flags = array.ndim, array.size, array.flags

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return self.array[self._found(index, False)]

    def __setitem__(self, index, value):
        self.array[self._found(index, True)] = value

    def _found(self, index, is_write):
        if not isinstance(index, tuple):
            index = (index,)
        if self.ndim != len(index):
            raise TypeError(f"one number for each axis, not {index}")
        index = tuple(map(operator.index, index))
        for i, n in zip(index, self.shape):
            if i >= n or i < -n:
                raise IndexError(f"{i} lies outside an axis of {n}")
        if self.touch is not None:
            self.touch(self.base + byte_offset(index, self.strides), is_write)
        return index
"""
