#!/usr/bin/env bash
# The comparison with cdec's tuners in docs/tuning.md: k-best MIRA, MERT from three starts, and MERT over forests, tuned on
# the first 500 sentences of dev. After each of six iterations, prints BLEU on these sentences, devtest and test.
#
#   snakemake --configfile experiments/whole-corpus.yaml      # once, for text, grammar index and language model
#   experiments/against-cdec.sh [RESULTS [OUTPUT]]            # about 40 minutes on one core
set -euo pipefail
results=${1:-results/whole-corpus}
output=${2:-results/against-cdec}
model=$results/lm/lm.bin

mkdir -p "$output"
for side in source target; do
    gzip -dc "$results/sentences/dev/1/text/0.$side.gz" | sed -n 1,500p > "$output/tuned.$side"
    for split in devtest test; do
        gzip -dc "$results/corpus/$split.$side.gz" > "$output/$split.$side"
    done
done
for split in tuned devtest test; do
    itersel grammar extract --index "$results/grammar/index" --input "$output/$split.source" \
        --reference "$output/$split.target" --output "$output/$split.h5"
done

# START is a file of weights, or empty for the default ones; LISTS and TUNER are JSON
tune() {  # NAME START STEP LISTS TUNER
    local folder=$output/$1 weights=$2 step=$3 lists=$4 tuner=$5 iteration split
    mkdir -p "$folder"
    : > "$folder/lists"
    for iteration in 1 2 3 4 5 6; do
        itersel step "$step" --sentences "$output/tuned.h5" --language-model "$model" --settings "$lists" \
            --iteration "$iteration" ${weights:+--start "$weights"} --output "$folder/lists.$iteration.h5"
        echo "$folder/lists.$iteration.h5" >> "$folder/lists"
        itersel step tune --inputs "$folder/lists" --settings "{\"tuner\": $tuner}" --iteration "$iteration" \
            ${weights:+--start "$weights"} --output "$folder/weights.$iteration.h5"
        weights=$folder/weights.$iteration.h5
        for split in tuned devtest test; do
            itersel decode --sentences "$output/$split.h5" --language-model "$model" --features dense --weights "$weights" \
                --output "$folder/$split.$iteration.txt"
            itersel bleu --reference "$output/$split.target" "$folder/$split.$iteration.txt" | sed -n 2p
        done
    done
}

printf '%s\n' 'LanguageModel 1' > "$output/model-alone"
# the signs of three of these six weights are wrong
printf '%s\n' 'LanguageModel 1' 'EgivenFCoherent 1' 'MaxLexFgivenE -1' 'MaxLexEgivenF 1' 'Glue 1' 'WordPenalty -1' \
    > "$output/partly-wrong"

hundred='{"features": "dense", "k_best": 100}'
tune kbest-mira "" kbest '{"features": "dense", "k_best": 500}' '{"name": "kbest-mira", "c": 0.001}'
tune mert "" kbest "$hundred" '{"name": "mert"}'
tune mert-model-alone "$output/model-alone" kbest "$hundred" '{"name": "mert"}'
tune mert-partly-wrong "$output/partly-wrong" kbest "$hundred" '{"name": "mert"}'
tune forest-mert "" forest '{"features": "dense"}' '{"name": "forest-mert"}'
