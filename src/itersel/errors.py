"""The exceptions for errors that a user can fix, and what messages say about names."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
FilePath = str | os.PathLike[str]


class InputError(Exception):
    """Bad input: shown as one line, without a traceback; the exit status is 1.

    Parameters
    ----------
    message
        What is wrong and what to do about it, in one line.
    path
        The file, if there is one; ``-`` is standard input.
    line
        The line in that file, counted from 1 as editors do.
    """

    def __init__(self, message: str, path: FilePath | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        place = "<stdin>" if path is None or os.fspath(path) == "-" else os.fspath(path)
        if line is not None:
            place += f":{line}"
        super().__init__(message if path is None and line is None else f"{place}: {message}")

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Return how it is sent to another process, with its place."""
        return type(self), (self.message, self.path, self.line)


class CombinedInputError(InputError):
    """Several errors in one input (at least one), each shown on its own line."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = [one for error in errors for one in errors_of(error)]
        more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
        super().__init__(self.errors[0].message + more, self.errors[0].path, self.errors[0].line)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Return how it is sent to another process."""
        return type(self), (self.errors,)


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise an InputError if an argument is not one of the choices."""
    if value not in choices:
        raise InputError(f"{name} is {value!r}; choose one of {', '.join(choices)}")


def errors_of(error: InputError) -> Sequence[InputError]:
    """Return the individual errors in an error."""
    return error.errors if isinstance(error, CombinedInputError) else [error]


@contextlib.contextmanager
def located(path: FilePath | None) -> Iterator[None]:
    """Give InputErrors that name no file this one, if there is one."""
    try:
        yield
    except InputError as error:
        parts = [InputError(one.message, one.path or path, one.line) for one in errors_of(error)]
        raise (parts[0] if len(parts) == 1 else CombinedInputError(parts)) from None


@contextlib.contextmanager
def checked(path: FilePath, otherwise: str) -> Iterator[None]:
    """Turn errors of Python about the content of a file into an InputError; InputErrors get its name."""
    try:
        with located(path):
            yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise InputError(otherwise, path) from None


@contextlib.contextmanager
def opening(path: FilePath) -> Iterator[None]:
    """Turn the errors of opening a file that does not exist, or a folder, into an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path) from None


def attempt_all(calls: Iterable[Callable[[], T]]) -> list[T]:
    """Make all calls and return their results; if any fail, raise all their InputErrors together."""
    results, errors = [], []
    for call in calls:
        try:
            results.append(call())
        except InputError as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else CombinedInputError(errors)
    return results


def check_by_reading(items: Iterable[object]) -> None:
    """Read items to their end, for the errors that this raises."""
    for _ in items:
        pass


def suggest(name: object, known: Iterable[str]) -> str:
    """Return a suggestion for a misspelt name, or an empty string if no known name is similar."""
    close = difflib.get_close_matches(name, list(known), 1) if isinstance(name, str) else []
    return f" (did you mean '{close[0]}'?)" if close else ""


def short_name(paths: Sequence[FilePath]) -> str:
    """Return a short name of one or more files."""
    return os.fspath(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def first_names(names: Sequence[str]) -> str:
    """Return the first of one or more names for a message, and how many more there are."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
