"""Functions for `map_blocks`; the processes that it starts import this module, which needs little."""

import os
import signal
import sys
import threading

from itersel.errors import InputError


def double():
    return lambda number: 2 * number


def fail(error):
    """Return a function that fails for 5: with an error, or its process is killed."""

    def function(number):
        if number == 5 and error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 5:
            raise error
        return number

    return function


def unusable():
    raise InputError("cannot be used")


class UnpackableError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, file, line):
        super().__init__(f"{file}:{line}: is wrong")


class LockedError(Exception):
    """Has something that cannot be packed."""

    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


class Breaks:
    """Raises an error when it is unpacked."""

    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        return breaks, (self.error,)


def breaks(error):
    raise error


def raising(name):
    """Return a function whose error or result cannot be sent."""

    def function(_):
        if name == "unpackable":
            raise UnpackableError("file", 7)
        if name == "locked":
            raise LockedError("file:7: is wrong")
        if name == "exit":
            sys.exit("file:7: is wrong")
        return {"lock": threading.Lock, "breaks": lambda: Breaks(ValueError("file:7: is wrong"))}[name]()

    return function


def identity():
    return lambda block: block


def identity_of(_):
    return identity()
