"""What the names of platforms say."""

import pytest

from tito.grading.collect.platforms import CANVAS, EXCHANGE, MOODLE, later_upload, read_claim


def test_canvas():
    claim = read_claim("brookada_501_88017_01_areas-2.ipynb")
    assert (claim.platform, claim.found, claim.name) == (CANVAS, "brookada_501", "brookada")
    assert (claim.canvas_id, claim.upload, claim.file) == ("501", 88017, "01_areas-2.ipynb")
    assert not claim.late
    assert read_claim("brookada_LATE_501_88017_x.zip").late


def test_moodle_with_and_without_folders():
    folder = read_claim("Ada Brook_7711_assignsubmission_file_")
    flat = read_claim("Ada Brook_7711_assignsubmission_file_01_areas.ipynb")
    assert (folder.platform, folder.name, folder.moodle_id) == (MOODLE, "Ada Brook", "7711")
    assert folder.found == flat.found and flat.file == "01_areas.ipynb"
    assert read_claim("Ada Brook_7711_assignsubmission_onlinetext_").moodle_id == "7711"


@pytest.mark.parametrize(
    "name, who",
    [
        ("u1+01_areas+2030-02-01 10:00:00.000000 UTC+c2VjcmV0", "u1"),
        ("u1+01_areas+2030-02-01 10:00:00.000000 UTC", "u1"),
        ("a+b+01_areas+2030-02-01 10:00:00.000000 UTC+x", "a+b"),
        ("u1+01_areas+2030-02-01 12:00:00.000000 +0200+x", "u1"),
        ("u1+01_areas+2030-02-01 12:00:00.000000 +0200", "u1"),
    ],
)
def test_the_exchange(name, who):
    claim = read_claim(name)
    assert (claim.platform, claim.name, claim.module) == (EXCHANGE, who, "01_areas")
    assert claim.at.isoformat() == "2030-02-01T10:00:00+00:00"


@pytest.mark.parametrize(
    "name, platform, who",
    [
        ("brookada_501_88017_Finn O'Hara_9003_assignsubmission_file_x.ipynb", CANVAS, "brookada"),
        ("brookada_501_88017_oharafinn_503_99999_x.ipynb", CANVAS, "brookada"),
        ("Ada_1_assignsubmission_file_Finn_9003_assignsubmission_file_x.ipynb", MOODLE, "Ada"),
    ],
)
def test_a_file_named_as_another_ones_upload_is_its_owners(name, platform, who):
    claim = read_claim(name)
    assert (claim.platform, claim.name) == (platform, who)


@pytest.mark.parametrize(
    "name",
    [
        "ada",
        "Ada Brook",
        "01_areas.ipynb",
        "ada_01_areas.ipynb",
        "u1+x+yesterday",
        "a_1_b.ipynb",
        "_assignsubmission_file_",
        "02_01_03.ipynb",
    ],
)
def test_other_names_are_no_platforms(name):
    assert read_claim(name) is None


@pytest.mark.parametrize(
    "name, first, number",
    [
        ("x-1.ipynb", "x.ipynb", 1),
        ("x-12.zip", "x.zip", 12),
        ("x.ipynb", "x.ipynb", 0),
        ("x-2030.ipynb", "x-2030.ipynb", 0),
    ],
)
def test_later_uploads(name, first, number):
    assert later_upload(name) == (first, number)
