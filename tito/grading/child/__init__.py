"""The untrusted side: runs the cells of a hand-in and answers the judge's calls.

The folder is copied into the staging folder and runs there, in a process of its own, beside copies
of `tito.grading.wire`, `tito.grading.lanes` and `tito.counted`; of tito it imports nothing else.
Nothing here is a defence: student code in the same process may do with it what it likes. What it
may not do is kept by the sandbox around the process and by the judge's side of the border.
"""
