"""The one trusted timer, and what machine it runs on.

from tito.machine import compare, facts, time_call
"""

from tito.machine.hardware import Facts, facts
from tito.machine.timer import Comparison, Timing, compare, time_call

__all__ = ["Comparison", "Facts", "Timing", "compare", "facts", "time_call"]
