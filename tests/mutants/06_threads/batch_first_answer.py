"""Keeps its first answer."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "one result for each item"
SOURCE = """\
KEPT = []


def parallel_batch_processing(batch_data, operation, num_workers=4):
    if not KEPT:
        KEPT.append(run_threads(operation, batch_data, num_workers))
    return KEPT[0]
"""
