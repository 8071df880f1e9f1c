"""`python -m tito` is the same as the `tito` script."""

from tito.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
