"""The exception for files; the rest are Python's own."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from ._mercer import use_file_error

__all__ = ["FileError", "FileMissing"]


class FileError(ValueError, OSError):
    """A file that cannot be read, written or understood: a bad value, and trouble with a file.

    >>> import mercer
    >>> try:
    ...     mercer.load("no-such.mercer")
    ... except mercer.FileError as error:
    ...     print(isinstance(error, FileNotFoundError))
    True
    """


class FileMissing(FileError, FileNotFoundError):
    """A file that is not there."""


FileError.__module__ = FileMissing.__module__ = "mercer"
use_file_error(FileError)
