"""Titles of the steps that the jobs of the rules belong to."""

from __future__ import annotations

from collections.abc import Mapping

# Jobs with the same title are one step. A rule that is missing here gets the title of the rule whose name its
# own begins with: `tune_again` gets that of `tune`.
TITLES = {
    "fetch_help": "fetch the LibreOffice Help",
    "fetch_corpus": "fetch {fetched}",
    "prepare_train": "prepare the text",
    "prepare_held_out": "prepare {held_out}",
    "align": "align words",
    "estimate_language_model": "estimate the language model",
    "compile_language_model": "compile the language model",
    "estimate_fold_model": "estimate language models without some shards",
    "index_corpus": "index the corpus",
    "shard_corpus": "cut {split} into shards",
    "extract_shard": "extract grammars of {split}",
    "train_shard": "{experiment}: train epoch {epoch}",
    "mix": "{experiment}: mix epoch {epoch}",
    "write_lists": "{experiment}: decode epoch {epoch} for tuning",
    "tune": "{experiment}: tune epoch {epoch}",
    "decode_shard": "{experiment}: translate {split} ({stage})",
    "choose_epoch": "{experiment}: choose the best epoch",
    "describe_selection": "{experiment}: describe the selection",
    "detokenize": "detokenise the translations of {evaluated}",
    "explain_translations": "explain the translations that differ most",
    "write_paper_tables": "write the tables for papers",
    "write_page": "write the page",
    "compare_systems": "compare the experiments",
    "compare_tasks": "compare tasks on {split}",
    "count_rules": "count rules",
    "describe_corpus": "describe the corpus",
}
# These take no time; showing them would hide the steps that do.
UNNAMED = ("all", "list_", "join_", "describe_resources", "write_references")


def title_of(rule: str, wildcards: Mapping[str, str]) -> str | None:
    """Return the title of the step that a job belongs to; None if the step is not shown."""
    if rule.startswith(UNNAMED):
        return None
    known = max((name for name in TITLES if rule.startswith(name)), key=len, default=None)
    named = " ".join([rule, *wildcards.values()])
    if known is None:
        return named
    try:
        return TITLES[known].format_map(wildcards)
    except KeyError:
        return named  # an unrelated rule whose name happens to begin with a known one
