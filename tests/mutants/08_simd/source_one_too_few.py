"""A tile that just fits is refused."""

EXERCISE = "ukernel_source"
FAILS_IN = "ukernel_source-test"
PHRASE = "15 registers"
SOURCE = """\
def ukernel_source(mr, nv, registers=REGISTERS):
    need = mr * nv + nv + 1
    if need >= registers:
        raise ValueError(f'a tile of {mr} x {nv} vectors needs {need} registers, and there are {registers} registers')
    sums = [(r, v) for r in range(mr) for v in range(nv)]
    lines = ['def ukernel(pa, pb, ldb, kc, c, ic, ldc):']
    lines += [f'    c{r}_{v} = vzero()' for r, v in sums]
    lines += ['    for p in range(kc):']
    lines += [f'        b{v} = vload(pb, ldb * p + {v * VL})' for v in range(nv)]
    for r in range(mr):
        lines += [f'        a = vbcast(pa, {mr} * p + {r})']
        lines += [f'        c{r}_{v} = vfma(a, b{v}, c{r}_{v})' for v in range(nv)]
    for r, v in sums:
        place = f'ic + {r} * ldc + {v * VL}'
        lines += [f'    vstore(c, {place}, vadd(c{r}_{v}, vload(c, {place})))']
    return '\\n'.join(lines)

@functools.cache
def ukernel(mr, nv):
    return compile_source(ukernel_source(mr, nv), 'ukernel')

def multiply_tile(mr, nv, pa, pb, out, row=0, column=0, times=1, plain=False):
    tile, ldc = ((in_python(ukernel) if plain else ukernel)(mr, nv), out.shape[1])
    for _ in range(times):
        tile(pa, pb, pb.shape[1], len(pa), out, row * ldc + column, ldc)
    return out

def stores_of_tile(mr, nv, pa, pb):
    c, stored, nr = (np.zeros(mr * nv * VL, np.float32), [], nv * VL)
    tile = in_python(ukernel, vstore=lambda x, i, v: stored.append(i))(mr, nv)
    tile(pa, pb, nr, len(pa), c, 0, nr)
    return len(stored)
"""
