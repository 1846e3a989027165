"""A fuzzer of every file that itersel reads: `python -m tests.fuzz --help`.

A case is one damaged file and one step that reads it: a format, a mode and a number.

- *damaged* files keep their checksums: the step must reject them or give the same output.
- *resealed* files get correct checksums, which tests declared formats and kernels; half of the changes stay
  within the declared bounds.
- *changed* files are text, which has no checksums.

A case fails if it crashes, shows a traceback, uses more than 4 GB or 60 s, leaves anything behind, gives
different output from a damaged file, or reports an error in other than one line that names the file.
"""
