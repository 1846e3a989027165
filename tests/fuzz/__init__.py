"""A fuzzer of every file that itersel reads: `python -m tests.fuzz --help`.

A case is one damaged file and one step that reads it. The step must refuse the file with one line that names
it and leave nothing behind, or end as if the file were whole. Where a checksum cannot tell, because the case
sealed the file again or because the file is plain text, another result is allowed as well. A crash, a
traceback, more than 4 GB or more than a minute never are.
"""
