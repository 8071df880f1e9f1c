"""C is overwritten."""

EXERCISE = "ukernel_2x2"
FAILS_IN = "ukernel_2x2-test"
PHRASE = "C was overwritten"
SOURCE = """\
@kernel
def ukernel_2x2(pa, pb, ldb, kc, c, ic, ldc):
    c00 = vzero()
    c01 = vzero()
    c10 = vzero()
    c11 = vzero()
    for p in range(kc):
        b0 = vload(pb, ldb * p)
        b1 = vload(pb, ldb * p + VL)
        a = vbcast(pa, 2 * p)
        c00 = vfma(a, b0, c00)
        c01 = vfma(a, b1, c01)
        a = vbcast(pa, 2 * p + 1)
        c10 = vfma(a, b0, c10)
        c11 = vfma(a, b1, c11)
    vstore(c, ic, c00)
    vstore(c, ic + VL, c01)
    vstore(c, ic + ldc, c10)
    vstore(c, ic + ldc + VL, c11)

def multiply_2x2(pa, pb, out, row=0, column=0, plain=False, kc=None):
    tile, ldc = (in_python(ukernel_2x2) if plain else ukernel_2x2, out.shape[1])
    floats, steps = ([x.reshape(-1) for x in (pa, pb, out)], len(pa) if kc is None else kc)
    tile(*floats[:2], pb.shape[1], steps, floats[2], row * ldc + column, ldc)
    return out
"""
