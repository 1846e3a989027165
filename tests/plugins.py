"""The package of docs/plugins.md, and others, as they look when they are installed."""

import os
import re
import tomllib
from pathlib import Path


def python_path(site: Path) -> str:
    return os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])


def install(site: Path, name: str, entry_points: dict[str, dict[str, str]], files: dict[str, str]) -> None:
    """Write what pip would install: the files, and the metadata with the entry points."""
    for path, content in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(content)
    metadata = site / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in entry_points.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


def install_toy(root: Path, site: Path) -> None:
    """Install the package of the documentation."""
    page = (root / "docs/plugins.md").read_text()
    (declared,) = re.findall(r"^```toml\n(.*?)^```$", page, flags=re.M | re.S)
    files = dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```$", page, flags=re.M | re.S))
    install(site, "toy", tomllib.loads(declared)["project"]["entry-points"], files)
