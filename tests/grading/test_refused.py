"""What nbgrader does by itself in a class folder: nothing."""

import pytest

from tests.grading.book.sample import NAME, TIMES, Class, hand_in
from tito.grading.newclass import CONFIG_TEXT

pytest.importorskip("nbgrader")


@pytest.mark.parametrize(
    ("call", "tree", "instead"),
    [
        ("autograde", "autograded", "tito grade run"),
        ("generate_feedback", "feedback", "tito grade feedback"),
    ],
)
def test_it_is_refused_before_it_removes_or_writes_anything(tmp_path, call, tree, instead):
    """As formgrader calls it for a click: with force, which removes first what is there."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    own = Class(tmp_path / "class")
    (own.root / "nbgrader_config.py").write_text(CONFIG_TEXT.format(course_id='"class"'))
    own.collect("ann", hand_in({}), TIMES["ann"])
    for folder in ("autograded", tree):
        there = own.root / folder / "ann" / NAME
        there.mkdir(parents=True, exist_ok=True)
        (there / f"{NAME}.ipynb").write_bytes(hand_in({}))
        (there / f"{NAME}.html").write_text("the page that is there")
    config = PyFileConfigLoader("nbgrader_config.py", path=str(own.root)).load_config()
    config.LoggingConfigurable.log_level = 50
    api = NbGraderAPI(CourseDirectory(root=str(own.root), config=config), config=config)
    done = getattr(api, call)(NAME, "ann")
    assert not done["success"] and instead in done["error"]
    assert (there / f"{NAME}.html").read_text() == "the page that is there"
