"""Floats one by one, and vectors that add nothing beside them."""

EXERCISE = "ukernel_2x2"
FAILS_IN = "ukernel_2x2-registers"
PHRASE = "vfma alone adds to them"
SOURCE = """\
@kernel
def ukernel_2x2(pa, pb, ldb, kc, c, ic, ldc):
    for r in range(2):
        for s in range(2 * VL):
            total = np.float32(0)
            for p in range(kc):
                total += pa[2 * p + r] * pb[ldb * p + s]
            c[ic + r * ldc + s] += total
    zero = vbcast(np.zeros(1, np.float32), 0)
    for p in range(kc):
        for r in range(2):
            for i in (ic + r * ldc, ic + r * ldc + VL):
                vstore(c, i, vfma(zero, zero, vload(c, i)))

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
