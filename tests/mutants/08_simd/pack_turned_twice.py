"""The rows that turn_columns did are left out at the end too."""

EXERCISE = "pack"
FAILS_IN = "pack-test"
PHRASE = "panels_from_columns: column s of panel q"
SOURCE = """\
@kernel
def panels_from_rows(x, ld, n, panels):
    count, k, width = panels.shape
    for q in range(count):
        part = min(width, n - q * width)
        panel = panels[q]
        if part == width and width % VL == 0:
            for p in range(k):
                for s in range(0, width, VL):
                    vstore(panel, p * width + s, vload(x, ld * p + q * width + s))
            continue
        for p in range(k):
            target = panel[p]
            for s in range(part):
                target[s] = x[ld * p + q * width + s]
            target[part:] = np.float32(0)

@kernel
def panels_from_columns(x, ld, n, panels):
    count, k, width = panels.shape
    for q in range(count):
        part = min(width, n - q * width)
        panel = panels[q]
        panel[:, part:] = np.float32(0)
        done = turn_columns(x, ld * width * q, ld, panel) if part == width else 0
        for s in range(part):
            start = ld * (q * width + s)
            column = x[start:start + k]
            for p in range(done, k - done):
                panel[p, s] = column[p]

def _packed(x, width):
    k, n = x.shape
    panels = aligned_empty((-(-n // width), k, width))
    if n % width:
        panels[-1] = np.nan
    if (rows := flat_rows(x)):
        panels_from_rows(read_only(rows[0]), rows[1], n, panels)
    elif (columns := flat_rows(x.T)):
        panels_from_columns(read_only(columns[0]), columns[1], n, panels)
    else:
        panels_from_rows(read_only(np.array(x, order='C').reshape(-1)), n, n, panels)
    return panels

def pack_b(b, nr, plain=False):
    return (in_python(_packed) if plain else _packed)(b, nr)

def pack_a(a, mr, plain=False):
    return (in_python(_packed) if plain else _packed)(a.T, mr)
"""
