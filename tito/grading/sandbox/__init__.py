"""The cage that the process of student code builds around itself before it runs any.

    layers = confine(scratch, [*readable_paths(), stage], limits)

Layers, each used where the system has it, none needing root or a dependency:

- Landlock: only the given folders can be read, only the scratch folder can be written;
- seccomp: threads but no processes, no programs, no network, no hand on any other process;
- capabilities: a root user keeps none but that of reading what Landlock lets through;
- rlimits: memory, CPU seconds, file size, open files;
- namespaces: own mounts, network, shared memory, host name and processes (where they are allowed);
- tmpfs: the scratch folder is memory of a limited size (where it may mount one).

What stays possible: asking whether a path exists and how big it is (stat) and, without the tmpfs,
filling the scratch folder with many files, each below the limit.

The package imports the standard library only and nothing of tito, because it is copied into the
staging folder of that process and imported there as top-level `sandbox`.
"""

from .layers import confine, is_isolating
from .namespaces import own_processes
from .probe import available
from .view import readable_paths

__all__ = ["available", "confine", "is_isolating", "own_processes", "readable_paths"]
