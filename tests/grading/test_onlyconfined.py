"""What nbgrader runs by itself in a class folder: nothing."""

import pytest

from tests.grading.book.sample import NAME, TIMES, Class, hand_in
from tito.grading.newclass import CONFIG_TEXT

pytest.importorskip("nbgrader")


def test_nbgrader_s_autograde_is_refused_before_it_removes_anything(tmp_path):
    """As formgrader calls it for its bolt: with force, which removes what is there first."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    own = Class(tmp_path / "class")
    (own.root / "nbgrader_config.py").write_text(CONFIG_TEXT.format(course_id='"class"'))
    own.collect("ann", hand_in({}), TIMES["ann"])
    page = own.root / "autograded" / "ann" / NAME / f"{NAME}.ipynb"
    page.parent.mkdir(parents=True)
    page.write_text("the page that a grader sees")
    config = PyFileConfigLoader("nbgrader_config.py", path=str(own.root)).load_config()
    config.LoggingConfigurable.log_level = 50
    api = NbGraderAPI(CourseDirectory(root=str(own.root), config=config), config=config)
    done = api.autograde(NAME, "ann")
    assert not done["success"] and "tito grade run" in done["error"]
    assert page.read_text() == "the page that a grader sees"
