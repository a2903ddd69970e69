"""The two ways covertour says no, each with a message of one line."""


class InputError(ValueError):
    """The input makes no sense; the message names the file or field and what was expected."""


class SolveError(RuntimeError):
    """A solve could not finish although the input is fine."""
