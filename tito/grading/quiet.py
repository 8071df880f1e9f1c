"""A Dask worker that grades does not look at itself all the time.

Dask takes a sample of what a worker's threads do every 10 ms, looks at its event loop every 20 ms
and at its memory every 100 ms. While a task of ours only waits for its judge's process that is all
the worker does: up to a twentieth of a core, for as long as a hand-in takes. The plugin makes these
looks rare while `tito grade run` holds it, on workers that come later too, and gives them back
after it.
"""

from __future__ import annotations

from typing import Any

from distributed import Client, WorkerPlugin

NAME = "tito-quiet"
# By Dask's names; milliseconds between two looks.
RARE = {"profile": 1000, "tick": 1000, "monitor": 5000, "memory_monitor": 1000}


class Quiet(WorkerPlugin):
    """On every worker of a cluster while it grades."""

    name = NAME

    def setup(self, worker: Any) -> None:
        self._before = {}
        for name, rare in RARE.items():
            look = worker.periodic_callbacks.get(name)
            if look is not None and look.callback_time < rare:
                self._before[name] = look.callback_time
                look.callback_time = rare

    def teardown(self, worker: Any) -> None:
        for name, often in self._before.items():
            worker.periodic_callbacks[name].callback_time = often


def quiet(client: Client) -> None:
    client.register_plugin(Quiet())


def as_before(client: Client) -> None:
    client.unregister_worker_plugin(NAME)
