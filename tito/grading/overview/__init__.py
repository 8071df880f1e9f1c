"""How a class did: questions, points, speeds, and what a person may want to look at.

from tito.grading.overview import overview, page
"""

from tito.grading.overview.gather import Overview, overview
from tito.grading.overview.page import page
from tito.grading.overview.tables import to_csv, to_json, to_text

__all__ = ["Overview", "overview", "page", "to_csv", "to_json", "to_text"]
