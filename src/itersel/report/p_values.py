"""p-values as text, so that none becomes 0, or is rounded to the level of significance."""

from __future__ import annotations

# The smallest p-value that is shown as a number.
SMALLEST_P = 0.0001
# With this many significant digits, every float is read back unchanged.
EXACT_DIGITS = 17


def format_p(p: float, alpha: float) -> str:
    """Format a p-value to read, with four decimals; with more where these would place it beside `alpha`."""
    if p < SMALLEST_P <= alpha:
        return f"< {SMALLEST_P}"
    return _rounded(p, alpha, 4, "f")


def describe_p(p: float, alpha: float) -> str:
    """Return an equation or inequality of a p-value; large ones have two decimals."""
    text = _rounded(p, alpha, 2, "f") if p >= 0.1 else format_p(p, alpha)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def precise_p(p: float, alpha: float) -> str:
    """Format a p-value for programs, with four significant digits or as many as `format_p` needs."""
    return _rounded(p, alpha, 4, "g")


def _rounded(p: float, alpha: float, digits: int, notation: str) -> str:
    """Round a p-value to at least `digits` digits, so that it is below `alpha` if it was."""
    for precision in range(digits, EXACT_DIGITS):
        text = f"{p:.{precision}{notation}}"
        if (float(text) < alpha) == (p < alpha) and (float(text) > 0 or p == 0):
            return text
    return repr(p)
