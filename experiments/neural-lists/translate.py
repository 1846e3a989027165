"""The part of decode.py that runs in the environment with pymarian: sentences in, n-best lists out.

Each line of standard input is a JSON list of sentences; the answer is a JSON list of the lines that pymarian
writes for them.
"""

import json
import sys

from pymarian import Translator

translator = Translator(sys.argv[1])
for request in sys.stdin:
    print(json.dumps(translator.translate(json.loads(request))), flush=True)
