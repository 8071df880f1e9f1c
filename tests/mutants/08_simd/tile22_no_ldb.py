"""The rows of pb are as long as the tile."""

EXERCISE = "ukernel_2x2"
FAILS_IN = "ukernel_2x2-hidden"
PHRASE = "those of pb are ldb long"
SOURCE = """\
@kernel
def ukernel_2x2(pa, pb, ldb, kc, c, ic, ldc):
    c00 = vzero()
    c01 = vzero()
    c10 = vzero()
    c11 = vzero()
    for p in range(kc):
        b0 = vload(pb, 2 * VL * p)
        b1 = vload(pb, 2 * VL * p + VL)
        a = vbcast(pa, 2 * p)
        c00 = vfma(a, b0, c00)
        c01 = vfma(a, b1, c01)
        a = vbcast(pa, 2 * p + 1)
        c10 = vfma(a, b0, c10)
        c11 = vfma(a, b1, c11)
    vstore(c, ic, vadd(c00, vload(c, ic)))
    vstore(c, ic + VL, vadd(c01, vload(c, ic + VL)))
    vstore(c, ic + ldc, vadd(c10, vload(c, ic + ldc)))
    vstore(c, ic + ldc + VL, vadd(c11, vload(c, ic + ldc + VL)))

def multiply_2x2(pa, pb, out, row=0, column=0, plain=False, kc=None):
    tile, ldc = (in_python(ukernel_2x2) if plain else ukernel_2x2, out.shape[1])
    floats, steps = ([x.reshape(-1) for x in (pa, pb, out)], len(pa) if kc is None else kc)
    tile(*floats[:2], pb.shape[1], steps, floats[2], row * ldc + column, ldc)
    return out
"""
