"""Right, but it calls the specification that the tests compare with: nothing may count."""

EXERCISE = "summarize"
FAILS_IN = "summarize-test"
PHRASE = "summary_spec is the specification"
FORBIDDEN = "spec"
SOURCE = """\
def summarize(seconds):
    if len(seconds) == 0 or not all(0 <= value < math.inf for value in seconds):
        raise ValueError(f"finite samples >= 0 are needed, not {seconds}")
    return summary_spec(seconds)
"""
