# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: one exception class for every failure, with the status and the place that the library reports."""
from __future__ import annotations

import enum
import functools
from typing import Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Status(enum.IntEnum):
    """tenon_status of the C header; the numbers are frozen."""

    OK = 0
    INVALID_ARGUMENT = 1
    INVALID_MODEL = 2
    UNSUPPORTED = 3
    OUT_OF_MEMORY = 4
    LIMIT = 5
    DEVICE = 6
    IO = 7
    STATE = 8
    CANCELLED = 9
    DEADLINE = 10
    NOT_FOUND = 11
    FALLBACK = 12
    INTERNAL = 13


class Error(RuntimeError):
    """Every failure of this package.

    status: Status, what kind of failure.
    place: str, the node, input, option or file it speaks of; may be "".
    message: str, what is wrong and what was expected.
    """

    def __init__(self, status: int, message: str, place: str = "") -> None:
        self.status = Status(status)
        self.message = message
        self.place = place
        super().__init__(status, message, place)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} [{self.status.name}]"


def said_by(error: BaseException) -> str:
    """What an exception of somebody else says, for a message; never empty."""
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except Exception:                              # its own __str__ fails
        return type(error).__name__


def only_errors(function: _Function) -> _Function:
    """Makes every failure of a public function an Error; what numpy, ctypes or the system raised is its cause.

    MemoryError becomes OUT_OF_MEMORY, OSError IO, and what else a wrong argument leads to, whatever its own methods raise (TypeError,
    ValueError, RuntimeError ...), INVALID_ARGUMENT. KeyboardInterrupt and the like pass.
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kw: Any) -> Any:
        try:
            return function(*args, **kw)
        except Error:
            raise
        except MemoryError as error:
            raise Error(Status.OUT_OF_MEMORY, str(error) or "no memory", function.__name__) from error
        except OSError as error:
            raise Error(Status.IO, str(error), function.__name__) from error
        except Exception as error:
            raise Error(Status.INVALID_ARGUMENT, said_by(error), function.__name__) from error

    return wrapped  # type: ignore[return-value]
