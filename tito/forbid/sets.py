"""The named sets of routes, each defined once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ForbidSet:
    """The routes to one thing that an exercise wants written by hand.

    what      : what is forbidden, for people
    advice    : what to do instead
    parts     : parts of a library of which everything counts
    operators : syntax-tree names of binary operators
    functions : library -> names; any module of the library counts (numpy.linalg.matmul)
    methods   : names of array methods
    statements : syntax-tree names of loops; in the notebook's cells alone, not in the package
    suffix    : how the notebook's own names end that are forbidden: "_spec"
    by_order  : whether the order "F" is a route: a.ravel("F")
    """

    what: str
    advice: str
    functions: Mapping[str, frozenset[str]]
    methods: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()
    suffix: str | None = None
    by_order: bool = False


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRODUCTS = _names(
    "dot matmul einsum einsum_path tensordot inner outer vdot vecdot matvec vecmat multi_dot"
    " matrix_power convolve correlate kron innerproduct outerproduct c_einsum"
    # Ways to a product that carry another name: M * M of matrices, inv and solve, a covariance.
    " matrix asmatrix bmat mat cov corrcoef polymul poly1d inv pinv solve lstsq"
    " tensorinv tensorsolve get_blas_funcs average trapezoid trapz polyval"
)
_TENSOR_PRODUCTS = _PRODUCTS | _names(
    "mm bmm mv addmm addmv addbmm baddbmm linear bilinear chain_matmul conv1d conv2d conv3d"
    " dot_general conv_general_dilated scaled_dot_product_attention"
)
# A product by way of a transform, a norm (4ab = |a+b|^2 - |a-b|^2), a filter, a distance.
_PRODUCT_PARTS = _names(
    "fft fftpack linalg polynomial signal ndimage sparse spatial integrate stats matlib"
)
_GEMM = frozenset(
    p + name for p in "sd" for name in _names("gemm gemv dot symm symv trmm ger syrk")
)
_SUMS = _names(
    "sum nansum mean nanmean average reduce reduceat trace var std cumsum cumulative_sum"
    " trapezoid trapz bincount at polyval norm accumulate umr_sum"
    " histogram histogram2d histogramdd"
)
_MAXIMA = _names(
    "max min amax amin argmax argmin nanmax nanmin prod ptp any all norm"
    " umr_maximum umr_minimum umr_prod umr_any umr_all"
    # The first or last of what is in order.
    " sort argsort sort_complex partition argpartition unique percentile quantile median"
    " nanpercentile nanquantile nanmedian"
)
_STATISTICS = _names("mean fmean fsum")
_VARIANCES = _names("var std nanvar nanstd cov corrcoef tvar tstd describe moment zscore anom")
_SCANS = _names("cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod")
_ACCUMULATE = frozenset({"accumulate"})
# A quarter turn and a flip are a transpose; an einsum with two letters exchanged is one.
_TRANSPOSES = _names(
    "T mT transpose matrix_transpose permute_dims swapaxes moveaxis rollaxis rot90 einsum"
)
# Rows put together as columns; memory read as if it lay otherwise.
_COLUMNS = _names("stack dstack column_stack c_ as_strided")
# Methods that may be told the order of the elements by place: "F" makes a transpose.
ORDERED = _names("ravel flatten")
# What every array has by name: a method of one's own that is called so may be an array's.
ARRAY_NAMES = _names(
    "T all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj"
    " conjugate copy ctypes cumprod cumsum data device diagonal dot dtype dump dumps fill flags"
    " flat flatten getfield imag item itemsize mT max mean min nbytes ndim nonzero partition prod"
    " put ravel real repeat reshape resize round searchsorted setfield setflags shape size sort"
    " squeeze std strides sum swapaxes take to_device tobytes tofile tolist trace transpose var"
    " view"
)
# Told "c" or "r", they make a matrix, of which * is a product.
MATRIX_MAKERS = {"numpy.r_", "numpy.c_"}
# The first number of a transform is a sum; a filter with a memory runs along.
_TRANSFORMS = _names("fft fftpack signal ndimage")
_TENSOR_LIBRARIES = ("torch", "jax", "tensorflow", "cupy")
# In these a function is also reached as a method of the array class: numpy.ndarray.dot.
_ARRAY_LIBRARIES = ("numpy", *_TENSOR_LIBRARIES)


def _libraries(numpy: frozenset[str], **others: frozenset[str]) -> dict[str, frozenset[str]]:
    """The same names for NumPy and for the libraries that copy its names."""
    return {"numpy": numpy, "scipy": numpy} | dict.fromkeys(_TENSOR_LIBRARIES, numpy) | others


SETS: dict[str, ForbidSet] = {
    "blas": ForbidSet(
        what="a library's matrix product",
        advice="write the sum over the inner index yourself",
        operators=frozenset({"MatMult"}),
        functions={
            "numpy": _PRODUCTS,
            "scipy": _PRODUCTS | _GEMM,
            "math": frozenset({"sumprod", "dist"}),
            "statistics": _names("correlation covariance linear_regression fmean"),
            "operator": frozenset({"matmul", "imatmul", "__matmul__", "__imatmul__"}),
            **dict.fromkeys(_TENSOR_LIBRARIES, _TENSOR_PRODUCTS),
        },
        # Only dot and the dunders are methods of an array; the others name NumPy's functions
        # beyond doubt, also where the module behind them cannot be resolved.
        methods=_names(
            "dot __matmul__ __rmatmul__ __imatmul__ matmul einsum tensordot vdot multi_dot"
        ),
        parts=_PRODUCT_PARTS,
    ),
    "sum": ForbidSet(
        what="a library's sum",
        advice="add the terms up in a loop of your own",
        functions=_libraries(_SUMS, math=frozenset({"fsum", "sumprod"}), statistics=_STATISTICS),
        methods=_names("sum mean trace var std cumsum"),
        parts=_TRANSFORMS,
    ),
    "reductions": ForbidSet(
        what="a library's reduction",
        advice="write the loop over the elements yourself",
        functions=_libraries(
            _SUMS | _MAXIMA, math=frozenset({"fsum", "sumprod"}), statistics=_STATISTICS
        ),
        methods=_names("sum mean trace var std cumsum max min argmax argmin prod ptp any all"),
        parts=_TRANSFORMS,
    ),
    "scan": ForbidSet(
        what="a library's running sum",
        advice="keep the running total yourself",
        functions=_libraries(_SCANS | _ACCUMULATE, itertools=_ACCUMULATE, pandas=_SCANS),
        methods=_SCANS | _ACCUMULATE,
        parts=_TRANSFORMS,
    ),
    "loops": ForbidSet(
        what="a loop in Python",
        advice="use operations on whole arrays",
        functions={
            "builtins": _names("map filter sum"),
            "functools": _names("reduce"),
            "itertools": _names("accumulate starmap takewhile dropwhile filterfalse groupby"),
            "numpy": _names(
                "vectorize apply_along_axis apply_over_axes frompyfunc fromiter nditer ndindex"
                " ndenumerate"
            ),
            # Loops in Python that earlier modules left behind.
            "tinykernels": _names(
                "matmul_loops educational_matmul relu_loops softmax_loops layernorm_loops"
                " conv2d_loops"
            ),
        },
        methods=_names("map starmap imap"),  # of a pool of threads
        statements=_names("For AsyncFor While ListComp SetComp DictComp GeneratorExp"),
    ),
    "gemm": ForbidSet(
        what="a product of floats from an earlier module",
        advice="multiply the numbers as they are, without making floats of them",
        functions={
            "tinykernels": _names(
                "gemm gemm_blocked gemm_skinny gemm_wide PackedMatrix matmul_loops"
                " educational_matmul vectorized_matmul matmul_baseline cache_friendly_matmul"
                " blocked_matmul parallel_matmul matmul_ijk matmul_ikj matmul_registers"
                " matmul_prange"
            )
        },
    ),
    "where": ForbidSet(
        what="a choice between two arrays",
        advice="look for one operation that compares and chooses by itself",
        functions=_libraries(_names("where select choose")),
        methods=_names("choose"),
    ),
    "var": ForbidSet(
        what="a library's variance",
        advice="form the deviations once and add up their squares",
        functions=_libraries(
            _VARIANCES, statistics=_names("variance pvariance stdev pstdev NormalDist")
        ),
        methods=_names("var std"),
    ),
    "transpose": ForbidSet(
        what="a library's transpose",
        advice="exchange the two indices yourself, element by element",
        functions=_libraries(_TRANSPOSES | _COLUMNS),
        methods=_TRANSPOSES,
        by_order=True,
    ),
    "spec": ForbidSet(
        what="the specification that your function is tested against",
        advice="write the kernel yourself",
        functions={},
        suffix="_spec",
    ),
}

# Parts of a library that have routes of their own in them.
_PARTS = _PRODUCT_PARTS | _names("core _core multiarray umath ma lib matlib blas functional")


def is_library(forbidden: ForbidSet, path: str) -> bool:
    return _at_home(path).split(".")[0] in forbidden.functions


def is_part(forbidden: ForbidSet, path: str) -> bool:
    """Whether a path is a library, or a part of it, that has routes of the set in it."""
    library, *rest = _at_home(path).removesuffix(".__dict__").split(".")
    return library in forbidden.functions and (not rest or rest[-1] in _PARTS)


def names_function(forbidden: ForbidSet, path: str) -> bool:
    """Whether a library path ends in one of the set's names: numpy.linalg.matmul, numpy.dot."""
    library, *rest = _at_home(path).split(".")
    if not rest or library not in forbidden.functions:
        return False
    names = forbidden.functions[library]
    if library in _ARRAY_LIBRARIES:
        names |= forbidden.methods
    errors = any(word.endswith("Error") for word in rest)
    inside = not forbidden.parts.isdisjoint(rest[:-1]) and not errors
    # numpy._core._methods._sum is what numpy.sum calls.
    return inside or rest[-1] in names or (library == "numpy" and rest[-1].lstrip("_") in names)


def any_name(forbidden: ForbidSet, name: str) -> bool:
    return name in forbidden.methods or any(name in n for n in forbidden.functions.values())


def _at_home(path: str) -> str:
    """The path from NumPy on, where another library's name for it is used: numba.np.dot."""
    words = path.split(".")
    places = [i for i, word in enumerate(words) if word in ("np", "numpy")]
    return ".".join(["numpy", *words[places[-1] + 1 :]]) if places else path
