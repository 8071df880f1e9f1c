"""`tito bench`: every kernel of the package beside its peers, each verified before it is timed.

ladders   what is measured: workloads, their sizes, work, inputs, specifications and rungs
sizes     what --sizes means, and which sizes this machine can hold
peers     the same work by NumPy, SciPy, torch
trial     one kernel before its time counts: found, called, checked, its cost estimated
child     the process that does the work, with pinned threads
run       starts the child, survives its end
results   what was measured, as values
table     for people
export    for programs (JSON) and spreadsheets (CSV)
roofline  which roof a kernel stands under (arithmetic only)
"""
