"""C is loaded and stored in every step."""

EXERCISE = "ukernel_2x2"
FAILS_IN = "ukernel_2x2-registers"
PHRASE = "keep the sums in four names"
SOURCE = """\
@kernel
def ukernel_2x2(pa, pb, ldb, kc, c, ic, ldc):
    for p in range(kc):
        b0 = vload(pb, ldb * p)
        b1 = vload(pb, ldb * p + VL)
        a = vbcast(pa, 2 * p)
        vstore(c, ic, vfma(a, b0, vload(c, ic)))
        vstore(c, ic + VL, vfma(a, b1, vload(c, ic + VL)))
        a = vbcast(pa, 2 * p + 1)
        vstore(c, ic + ldc, vfma(a, b0, vload(c, ic + ldc)))
        vstore(c, ic + ldc + VL, vfma(a, b1, vload(c, ic + ldc + VL)))

def multiply_2x2(pa, pb, out, row=0, column=0, plain=False, kc=None):
    tile, ldc = (in_python(ukernel_2x2) if plain else ukernel_2x2, out.shape[1])
    floats, steps = ([x.reshape(-1) for x in (pa, pb, out)], len(pa) if kc is None else kc)
    tile(*floats[:2], pb.shape[1], steps, floats[2], row * ldc + column, ldc)
    return out

def without_vfma(pa, pb):
    c = np.zeros((2, 2 * VL), np.float32)
    tile = in_python(ukernel_2x2, vfma=lambda u, v, w: w)
    tile(pa.reshape(-1), pb.reshape(-1), 2 * VL, len(pa), c.reshape(-1), 0, 2 * VL)
    return c
"""
