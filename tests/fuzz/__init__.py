"""A fuzzer of every file that itersel reads: `python -m tests.fuzz --help`.

A case is one damaged file and one step that reads it. The step must reject the file with one line that names
it and leave nothing behind, or give the same result as with the undamaged file. If a checksum cannot detect
the damage, because the case resealed the file or the file is plain text, a different result is allowed, too.
A crash, a traceback, more than 4 GB or more than a minute are never allowed.
"""
