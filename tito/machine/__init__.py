"""The one trusted timer, and what machine it runs on.

from tito.machine import compare, facts, time_call
"""

from tito.machine.hardware import Facts, facts
from tito.machine.instructions import INSTRUCTION_SETS, instruction_set
from tito.machine.timer import Comparison, Timing, compare, time_call

__all__ = [
    "INSTRUCTION_SETS",
    "Comparison",
    "Facts",
    "Timing",
    "compare",
    "facts",
    "instruction_set",
    "time_call",
]
