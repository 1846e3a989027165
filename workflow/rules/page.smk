# The page of a run.
#
# needs: report/{table,corpus}.json, experiments/{experiment}/selection.json, the grammars of the first test set,
#        benchmarks/, report/run.json
# makes: report/{derivations.json,index.html}


rule explain_translations:
    """explain the translations that differ most"""
    input:
        table=f"{RESULTS}/{results.TABLE}",
        language_model=PLAN.files.language_model,
        pieces=PLAN.tables.explained_pieces,
    output:
        f"{RESULTS}/{results.DERIVATIONS}",
    log:
        f"{LOGS}/explain.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(2000, 60),
    params:
        pieces=lambda wildcards, input: sequence(input.pieces),
        results=lambda wildcards, output: os.path.dirname(os.path.dirname(output[0])),
        settings=PLAN.explain_settings,
        code=step_digest("step explain"),
    shell:
        "(seq {params.pieces} | itersel step explain --inputs - --language-model {input.language_model:q}"
        " --results={params.results:q} --settings {params.settings:q}"
        " --output {output:q}) &> {log:q}"


# The page shows all files that exist, so it only needs to wait for those that are written last.
rule write_page:
    """write the page"""
    input:
        table=f"{RESULTS}/{results.TABLE}",
        corpus=f"{RESULTS}/{results.CORPUS_TABLE}",
        selections=PLAN.files.experiments(
            PLAN.epochs.selecting, results.SELECTION_TABLE
        ),
        derivations=PLAN.origin.derivations,
    output:
        report(
            f"{RESULTS}/{results.PAGE}",
            caption="../report/page.rst",
            category="Charts and translations",
            labels={"page": "the whole run"},
        ),
    log:
        f"{LOGS}/page.log",
    conda:
        "../../envs/itersel.yaml"
    resources:
        **SIZES.request(4000, 60),
    params:
        results=lambda wildcards, output: os.path.dirname(os.path.dirname(output[0])),
        config=PLAN.config_digest(),
        code=step_digest("report page"),
        assets=digests.assets_digest(),
    shell:
        "itersel report page --results={params.results:q} --output {output:q} &> {log:q}"
