"""Archives for tests."""

import io
import tarfile
from collections.abc import Mapping


def archive(files: Mapping[str, bytes], packing: str = "gz") -> bytes:
    """Return a tar archive of files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=f"w:{packing}") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return content.getvalue()
