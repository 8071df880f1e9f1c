"""Foreign code runs only where its view of the file system is closed; limits alone do not count."""

from types import SimpleNamespace

import pytest

from tito.grading.judge import Unconfined, _Grading
from tito.grading.judge.run import Judge

CASES = [
    (["landlock7", "rlimits", "seccomp"], True),
    (["rlimits", "seccomp"], False),
    (["rlimits"], False),
    ([], False),
]


@pytest.mark.parametrize(("layers", "confined"), CASES)
def test_the_judge_runs_foreign_code_only_confined(layers, confined):
    events = []
    job = SimpleNamespace(unconfined=False, finished=[])
    judge = Judge(job, events.append, None)
    assert judge._may_run(SimpleNamespace(layers=layers)) is confined
    assert events == [{"event": "isolation", "layers": layers}]
    job.unconfined = True
    assert judge._may_run(SimpleNamespace(layers=layers))


@pytest.mark.parametrize(("layers", "confined"), CASES)
def test_the_grader_is_told_when_nothing_was_graded_for_that(layers, confined):
    job = SimpleNamespace(module="", before="reference", unconfined=False)
    grading = _Grading(job, lambda: False)
    event = {"event": "isolation", "layers": layers}
    if confined:
        grading._take(event)
    else:
        with pytest.raises(Unconfined):
            grading._take(event)
    assert grading.result.isolation == layers
    job.unconfined = True
    grading._take(event)
