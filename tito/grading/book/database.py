"""nbgrader's gradebook.db: made by nbgrader, written in transactions of our own.

nbgrader's `Gradebook` commits after every row. Here its tables are used with a session that
commits what belongs together, holds the database for as short as that takes, and touches nothing
that stays as it was.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tito.errors import UserError
from tito.files import remove_torn

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session

# As long as another writer (formgrader, nbgrader) may keep us waiting.
PATIENCE_SECONDS = 30


def tables() -> Any:
    """`nbgrader.api`, imported without the grammars of a URI checker that nobody here needs."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        import nbgrader.api
    except ImportError as error:
        raise UserError(
            f"the grade book needs nbgrader ({error})", hint="pip install -r requirements.txt"
        ) from None
    return nbgrader.api


def create(path: Path, course_id: str) -> None:
    """An empty grade book at `path`, whole or not at all; who calls it is the only one."""
    remove_torn(path)
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    os.unlink(scratch)
    url = f"sqlite:///{scratch}"
    try:
        _say_version(url)
        tables().Gradebook(url, course_id).close()
        os.replace(scratch, path)
    finally:
        remove_torn(path)


def _say_version(url: str) -> None:
    """Of the tables that nbgrader is about to make: it would start a program to hear of it."""
    from sqlalchemy import create_engine, text

    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        insert = text("INSERT INTO alembic_version (version_num) VALUES (:version)")
        connection.execute(insert, {"version": _newest_version()})
    engine.dispose()


class Book:
    """The grade book of a class; made where there is none.

    with Book(path, "course") as book:
        with book.transaction() as session: ...
    """

    def __init__(self, path: Path, course_id: str) -> None:
        if not path.is_file() or not path.stat().st_size:
            create(path, course_id)
        self.path = path
        self.course_id = course_id
        self._engine = _engine(path)
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session whose changes are all made, or none; alone with the database meanwhile."""
        from sqlalchemy.exc import OperationalError
        from sqlalchemy.orm import Session

        try:
            with Session(self._engine, autoflush=False) as session, session.begin():
                yield session
        except OperationalError as error:
            raise UserError(
                f"the grade book cannot be written: {error.orig}",
                path=self.path,
                hint="close what else is writing into it and try again",
            ) from None

    def _check_version(self) -> None:
        from sqlalchemy import inspect, text

        with self.transaction() as session:
            if inspect(session.connection()).has_table("alembic_version"):
                version = session.execute(text("SELECT version_num FROM alembic_version")).scalar()
                if version == _newest_version():
                    return
        raise UserError(
            "this grade book was made by another version of nbgrader",
            path=self.path,
            hint="keep a copy of it, then call nbgrader db upgrade in the class folder",
        )


def _newest_version() -> str | None:
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return ScriptDirectory(ALEMBIC_DIR).get_current_head()


def _engine(path: Path) -> Engine:
    from sqlalchemy import URL, create_engine, event

    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": PATIENCE_SECONDS})

    @event.listens_for(engine, "connect")
    def _begin_ourselves(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begin_as_writer(connection: Any) -> None:
        # What is read here is what is written over: nobody may write in between.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
