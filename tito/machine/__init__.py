"""The one trusted timer, what machine it runs on, and what that machine can do at most.

from tito.machine import Rung, compare, facts, peaks, scoreboard, time_call
"""

from tito.machine.board import Row, Scoreboard, scoreboard
from tito.machine.caches import Cache
from tito.machine.hardware import Facts, facts
from tito.machine.instructions import INSTRUCTION_SETS, instruction_set
from tito.machine.measuring import Measured, measure
from tito.machine.pinning import hidden_core, thread_environment
from tito.machine.roofs import Peaks, peaks
from tito.machine.rung import Rung
from tito.machine.timer import Comparison, Timing, compare, time_call

__all__ = [
    "INSTRUCTION_SETS",
    "Cache",
    "Comparison",
    "Facts",
    "Measured",
    "Peaks",
    "Row",
    "Rung",
    "Scoreboard",
    "Timing",
    "compare",
    "facts",
    "hidden_core",
    "instruction_set",
    "measure",
    "peaks",
    "scoreboard",
    "thread_environment",
    "time_call",
]
