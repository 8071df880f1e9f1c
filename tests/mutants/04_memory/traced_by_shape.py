"""The address follows from the shape."""

EXERCISE = "traced_array"
FAILS_IN = "traced_array-test"
PHRASE = "right for C order only"
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
        index = tuple(i % n for i, n in zip(index, self.shape))
        if self.touch is not None:
            place = 0
            for i, n in zip(index, self.shape):
                place = place * n + i
            self.touch(self.base + place * self.array.itemsize, is_write)
        return index
"""
