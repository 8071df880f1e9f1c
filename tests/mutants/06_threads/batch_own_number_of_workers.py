"""num_workers is not handed on."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "num_workers from 1 on"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    return run_threads(operation, batch_data)
"""
