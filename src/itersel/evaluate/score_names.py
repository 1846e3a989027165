"""Names of metrics and of the scores by which an epoch is chosen; imports nothing, so configs read fast."""

# Scores of detokenised text, computed both cased and lowercased.
METRICS = ("BLEU", "chrF2++", "TER")
CASES = ("cased", "lowercased")
LOWER_IS_BETTER = ("TER",)
# sacrebleu's tokenizers that need no download.
TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")
# Scores by which the epoch can be chosen, besides BLEU of the tokenised text: metric and case.
TOKENIZED_BLEU = "tokenized-bleu"
TEXT_SCORES = {
    "bleu": ("BLEU", "cased"),
    "chrf": ("chrF2++", "cased"),
    "ter": ("TER", "cased"),
    "bleu-lowercased": ("BLEU", "lowercased"),
    "chrf-lowercased": ("chrF2++", "lowercased"),
    "ter-lowercased": ("TER", "lowercased"),
}
