"""Blocks at the edge are as large as the others."""

EXERCISE = "gemm_blocked"
FAILS_IN = "gemm_blocked-test"
PHRASE = "reaches beyond the end"
SOURCE = """\
def gemm_blocked(a, b, out=None, mc=MC, kc=KC, nc=NC):
    mc, kc, nc = check_count("mc", mc), check_count("kc", kc), check_count("nc", nc)
    m, k, n, out, c = begin(a, b, out)
    memory, ldc = flat_rows(c)
    mr, nv = TILE
    tiles = macro_kernel(mr, nv)
    for j in range(0, n, nc):
        for p in range(0, k, kc):
            pb = pack_b(b[p : p + kc, j : j + nc], nv * VL)
            for i in range(0, m, mc):
                pa = pack_a(a[i : i + mc, p : p + kc], mr)
                tiles(pa, pb, memory, i * ldc + j, ldc, mc, nc)
    return finish(out, c)


def blocked_in_python(a, b, **blocks):
    return in_python(gemm_blocked)(a, b, **blocks)

def blocks_packed(a, b, **blocks):
    seen = {'pack_a': [], 'pack_b': []}

    def noting(name, pack):

        def noted(*args, **options):
            panels = in_python(pack)(*args, **options)
            seen[name].append(panels.size)
            return panels
        return noted
    noted = {name: noting(name, pack) for name, pack in (('pack_a', pack_a), ('pack_b', pack_b))}
    in_python(gemm_blocked, **noted)(a, b, **blocks)
    return seen
"""
