"""Kernels of estimation: the distinct n-grams of a block of text, and the lines of ARPA files."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt8s

_MINUS, _POINT, _ZERO, _EXPONENT, _SPACE, _TAB, _LINE = b"-.0e \t\n"
# Digits of a number in an ARPA file.
DIGITS = 7
# Smaller numbers become 0.
SMALLEST = 1e-15
_LEAST = 10.0 ** (DIGITS - 1)
_MOST = 10.0**DIGITS
# A double times this, and less the rest, has half of its bits (Veltkamp's splitting).
_HALVES = 2.0**27 + 1
# Bytes of a number and what follows it.
NUMBER_BYTES = 16


@kernel
def counting_sort(keys: Int32s, places: Int32s, bound: int) -> Int32s:
    """Return `places` sorted by their `keys`, below `bound`; those with negative keys are left out."""
    begin = np.zeros(bound + 1, np.int32)
    for i in range(places.shape[0]):
        if keys[places[i]] >= 0:
            begin[keys[places[i]] + 1] += 1

    for key in range(bound):
        begin[key + 1] += begin[key]

    result = np.empty(begin[bound], np.int32)
    for i in range(places.shape[0]):
        key = keys[places[i]]
        if key >= 0:
            result[begin[key]] = places[i]
            begin[key] += 1
    return result


@kernel
def longer_ngrams(tokens: Int32s, row: Int32s, place: Int32s, n: int) -> tuple[Int32s, Int32s]:
    """Find the distinct n-grams of a block of T words.

    tokens: int32 (T). row: int32 (T), row of the n - 1 words from each place among those of this length, -1
    if they do not end in the same sentence. place: int32, where the n-grams begin, sorted by `row` and then
    by the last word.

    Returns rows as above, of n words; and int32 (4, n-grams): context (row of the first n - 1 words), last
    word, suffix (row of the last n - 1 words) and occurrences, sorted by context and last word.
    """
    longer = np.full(tokens.shape[0], -1, np.int32)
    columns = np.empty((4, place.shape[0]), np.int32)
    count = 0
    context = -1
    word = -1

    for i in range(place.shape[0]):
        begin = place[i]
        if row[begin] != context or tokens[begin + n - 1] != word:
            context = row[begin]
            word = tokens[begin + n - 1]
            columns[0, count] = context
            columns[1, count] = word
            columns[2, count] = row[begin + 1]
            columns[3, count] = 0
            count += 1

        columns[3, count - 1] += 1
        longer[begin] = count - 1

    return longer, columns[:, :count]


@leaf_kernel
def put_number(number: float, text: UInt8s, end: int) -> int:
    """Append a number below 10^6 to ``text[:end]`` as ``f"{number:.7g}"``; returns the new end."""
    if abs(number) < SMALLEST:
        text[end] = _ZERO
        return end + 1

    if number < 0:
        text[end] = _MINUS
        end += 1
        number = -number

    exponent = DIGITS - 1
    scale = 1.0
    # Powers of ten up to 10^22 are exact.
    while number * scale < _LEAST:
        scale *= 10
        exponent -= 1

    digits = rounded_product(number, scale)
    if digits == int(_MOST):
        digits //= 10
        exponent += 1

    # digits before the point, of which there is none before those of 0.00123
    whole = exponent + 1 if exponent >= 0 else 1 if exponent < -4 else 0

    length = DIGITS
    while length > max(whole, 1) and digits % 10 == 0:
        digits //= 10
        length -= 1

    if whole == 0:
        text[end] = _ZERO
        text[end + 1] = _POINT
        for i in range(-exponent - 1):
            text[end + 2 + i] = _ZERO
        end += 1 - exponent
    elif length > whole:
        end += 1

    for i in range(length - 1, -1, -1):
        text[end + i - (i < whole < length)] = _ZERO + digits % 10
        digits //= 10

    if 0 < whole < length:
        text[end + whole - 1] = _POINT
    end += length

    if exponent < -4:
        text[end] = _EXPONENT
        text[end + 1] = _MINUS
        text[end + 2] = _ZERO + -exponent // 10
        text[end + 3] = _ZERO + -exponent % 10
        end += 4
    return end


@leaf_kernel
def rounded_product(a: float, b: float) -> int:
    """Return the integer next to a b (below 2^52), the even one if two are equally near."""
    product = a * b
    # the product less its rounded value, exactly (Dekker 1971)
    a_high = _HALVES * a - (_HALVES * a - a)
    b_high = _HALVES * b - (_HALVES * b - b)
    a_low = a - a_high
    b_low = b - b_high

    rest = a_high * b_high - product + a_high * b_low + a_low * b_high + a_low * b_low
    below = int(product)
    over = product - below - 0.5
    if over > 0 or (over == 0 and (rest > 0 or (rest == 0 and below % 2 == 1))):
        return below + 1
    return below


@kernel
def arpa_lines(ngrams: Int32s, numbers: Float64s, data: UInt8s, offset: Int64s, text: UInt8s) -> int:
    """Write the lines of n-grams into `text`, which is large enough, and return their length.

    ngrams: int32 (n-grams, order), words, the rows of the `StringTable` with `data` and `offset`. numbers:
    float64 (n-grams, 1 or 2), what is before the words, and what is after them; see `put_number`.
    """
    end = 0

    for i in range(ngrams.shape[0]):
        end = put_number(numbers[i, 0], text, end)
        for j in range(ngrams.shape[1]):
            text[end] = _SPACE if j else _TAB
            end += 1

            for k in range(offset[ngrams[i, j]], offset[ngrams[i, j] + 1]):
                text[end] = data[k]
                end += 1

        if numbers.shape[1] == 2:
            text[end] = _TAB
            end = put_number(numbers[i, 1], text, end + 1)

        text[end] = _LINE
        end += 1
    return end
