"""The split of a source sentence; `test_corpus_prepare` tests the splits of a corpus."""

from collections import Counter

from itersel.corpus.split import split_of


def test_split_is_md5_modulo_1000():
    # echo -n 'hilfe zu dieser hilfe' | md5sum: a 128-bit number, 15 modulo 1000, which is below 28.
    assert int("6c947b66a50508529f6d98e362086a5f", 16) % 1000 == 15
    assert split_of("hilfe zu dieser hilfe") == "dev"
    counts = Counter(split_of(f"satz {number}") for number in range(20_000))
    # 28, 28, 56 and 888 of 1000, within five standard deviations.
    for split, expected in (("dev", 560), ("devtest", 560), ("test", 1120), ("train", 17_760)):
        assert abs(counts[split] - expected) < 5 * expected**0.5
