"""The course's command line, exporter and grader."""

__version__ = "0.1.0"
