"""Names of files in a folder of results: modules and rules take them from `itersel.results`."""

import ast
import re

from itersel import results

# Those with a suffix; folders are called like many other things.
NAMES = {value for name, value in vars(results).items() if name[0].isupper() and "." in value}


def strings(tree):
    """Yield the strings of a module that could be the ends of paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_modules_do_not_spell_them(root):
    assert {"weights.h5", "report/table.json", "files.txt"} <= NAMES
    package = root / "src/itersel"
    spelled = [
        f"{path.relative_to(package)}: {text}"
        for path in sorted(package.rglob("*.py"))
        if path.name != "results.py"
        for text in strings(ast.parse(path.read_text()))
        if text in NAMES or text.endswith(tuple(f"/{name}" for name in NAMES))
    ]
    assert spelled == []


def test_rules_do_not_spell_them(root):
    """Nor the folders of epochs, iterations, divisions, folds and lists; those of logs are like them."""
    folders = {"sentences/", "align/", "lm/", "tuning", "epoch-", "iteration-", "best"}
    end = "|".join(map(re.escape, NAMES))
    name = re.compile(rf'["/](?:(?:{end})"|(?:{"|".join(folders)})["/{{\\])')
    spelled = [
        f"{path.name}: {line.strip()}"
        for path in [root / "Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))]
        for line in path.read_text().splitlines()
        if name.search(line) and not re.match(r"\s*#|\s*f\"\{(LOGS|BENCHMARKS)\}", line)
    ]
    assert spelled == []
