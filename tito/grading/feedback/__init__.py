"""One page for each student: points, messages, comments; stands alone and runs nothing.

from tito.grading.feedback import feedback_of, page
"""

from tito.grading.feedback.gather import Feedback, Late, Mark, feedback_of
from tito.grading.feedback.page import page

__all__ = ["Feedback", "Late", "Mark", "feedback_of", "page"]
