"""The main job on both schedulers: epochs are arrays, shards fail independently, results are identical."""

from __future__ import annotations

import re

import pytest
from tests.cluster.clusters import EPOCHS, SHARDS, submitted

pytestmark = pytest.mark.cluster


def test_main_job(fresh, local):
    output = fresh.run()
    for epoch in range(1, EPOCHS + 1):
        name = f"train_shard.selected.{epoch}"
        assert submitted(output)[name] == str(SHARDS)
        # according to the scheduler: one array with all shards
        [number] = re.findall(rf"array (\d+) {re.escape(name)}-", output)
        assert fresh.cluster.tasks_of(number) == SHARDS
    assert fresh.project.contents() == local.contents()
    assert not [path for path in (fresh.folder / ".snakemake/arrays").iterdir() if path.is_dir()]
