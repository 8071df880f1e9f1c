"""None in place of an exception."""

EXERCISE = "parallel_batch_processing"
FAILS_IN = "parallel_batch_processing-test"
PHRASE = "None in its place hides it"
SOURCE = """\
def parallel_batch_processing(batch_data, operation, num_workers=4):
    def careful(item):
        try:
            return operation(item)
        except Exception:
            return None

    return run_threads(careful, batch_data, num_workers)
"""
