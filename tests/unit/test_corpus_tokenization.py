"""Tokenisation and its reverse: what is protected, what is restored, case by language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scored import learn_recaser

from itersel.corpus.prepare import Preparation, restore
from itersel.corpus.recase import capitalize, lower
from itersel.corpus.settings import Words
from itersel.corpus.tokenization import JOIN, PATTERNS, check_pattern, clean, finder, tokenizer

# Lines of languages that Moses' rules know, and of others: ordinary text, with what its rules take apart.
LINES = {
    "en": [
        'He said: "No, it is (not) mine." That\'s all!',
        "Input/output (I/O), and/or read_me.txt; R&D is 50% of it.",
        '<b>Press</b> the %s key, then {0}, "$HOME" or F1-F12...',
        "The users' choice: 6\" and 5' tall, 10\u00a0000 and/or 5 £ more.",
        "Call getSize() or print(a[0], b); it's the users' choice.",
    ],
    "de": ['Das ist der Wert der Zelle "A1".', "Ein-/Ausgabe, d.h. 3,5 km bzw. 10.000 m/s.", "Ist's so? Ja!"],
    "fr": ["L'auteur dit qu'il n'y a rien.", "Aujourd'hui, c'est-à-dire demain."],
    "it": ["Un po' di tempo, un po' d'acqua.", "L'uomo dell'anno è un'altra cosa."],
    "es": ["¿Qué es esto? ¡Nada!", "Son 3/4 partes (o más)."],
    "pt": ['Disse-me: "não é d\'água".'],
    "ca": ["L'home d'aquí no s'ho creu; l'11 de setembre."],
    "ga": ["D'fhéadfadh sé a bheith b'fhéidir."],
    "nl": ["Zo'n 's avonds gegeven foto's."],
    "sv": ["SVT:s program om EU:s mål."],
    "fi": ["EU:n ja USA:ssa on 5:ssä, ns. vaa'an."],
    "cs": ["Je-li to pravda, přijde 5. května v 10:30."],
    "pl": ["To jest 5-krotny test, tzn. dobry."],
    "hu": ['Az 1990-es évek "nagy" kérdése.'],
    "ro": ["Într-o zi, s-a dus la N'Djamena."],
    "tr": ["Ankara'da kaldım, Türkiye'nin başkenti."],
    "uz": ["O'zbekiston g'alabasi."],
    "uk": ["М'яч і сім'я, об'єкт №5."],
    "ru": ["Это — тест: по-русски (да)."],
    "bg": ['Той каза: "да".'],
    "el": ["Τι είναι αυτό; Είναι δικό μου, π.χ. σ'αυτό."],
    "he": ['הוא אמר: "שלום" ל־דוד. שָׁלוֹם'],
    "ar": ['قال: "نعم"، ثم ذهب (اليوم)؟'],
    "fa": ["می‌خواهم کتاب‌ها را بخوانم؛ چرا؟"],
    "hi": ["मैं हिन्दी बोलता हूँ।", "क्या?"],
    "ta": ["நான் தமிழ் பேசுகிறேன்."],
    "th": ["ภาษาไทย ง่ายนิดเดียว 5 บาท"],
    "km": ["ភាសាខ្មែរស្រួលណាស់"],
    "lo": ["ພາສາລາວງ່າຍ"],
    "my": ["မြန်မာဘာသာစကား"],
    "bo": ["བོད་སྐད་"],
    "zh": ["我喜欢你，他也喜欢（真的）！是吗？", "我用Python写程序。"],
    "ja": ["です。Windows 10。「はい」。", "「はい」、と彼は言った。", "Calcの図です。"],
    "ko": ["저는 학생(대학생)입니다.", "3/4 이상?"],
    "vi": ['Tôi nói: "Không".'],
    "ka": ["ეს არის „ტესტი“."],
    "hy": ["Սա փորձ է։"],
    "lt": ['Tai - bandymas: "taip".'],
}
PIECES = [*"aBé .,'\"/_()-:%&ก中1", "{0}", "www.x.org", "<b>", "..."]
# Letters of European scripts, digits and punctuation.
PLAIN = st.characters(min_codepoint=0x20, max_codepoint=0x52F) | st.sampled_from("–—‘“…09:.www")


@pytest.mark.parametrize(("language", "line"), [(key, line) for key in LINES for line in LINES[key]])
def test_text_is_restored(language: str, line: str) -> None:
    """Quotation marks and dashes are unified; all else is as it was."""
    plain = line.translate(str.maketrans({"„": '"', "“": '"', "–": "-", "—": " - "}))
    plain = plain.replace("  ", " ").replace("  ", " ")
    assert tokenizer(language).detokenize(tokenizer(language).tokenize(clean(line))) == plain


def test_sacremoses_fails_at_czech_contractions() -> None:
    assert tokenizer("cs").detokenize(["Ano", ",", "a'", "-", "li", "￭."]) == "Ano , a' - li."


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("See https://www.x.org/a_b/c.html?d=1&e=2.", "See https://www.x.org/a_b/c.html?d=1&e=2 ."),
        ("(www.x.org/~me), ftp://x.org/", "( www.x.org/~me ) , ftp://x.org/"),
        ("Mail first.last+tag@mail.x.org!", "Mail first.last+tag@mail.x.org !"),
        ("At 10:30:15, not 9:05.", "At 10:30:15 , not 9:05 ."),
        ("C:\\Temp\\x.txt or /usr/lib/a.so, ~/.x/y.", "C:\\Temp\\x.txt or /usr/lib/a.so , ~/.x/y ."),
        ("%APPDATA%\\a\\b and $HOME/b.", "%APPDATA%\\a\\b and $HOME/b ."),
        ("%s of %(name)s, %1$d {0} {{x}} ${VAR}", "%s of %(name)s , %1$d {0} {{x}} ${VAR}"),
        ("$[n] %NAME %2", "$[n] %NAME %2"),
        ("%% of #{x} in {{ user.name }}, \\nLine", "%% of #{x} in {{▁user.name▁}} , \\n￭ Line"),
        ("${{x}} {{ a | b }} of {{ a b c d e }}", "${{x}} {{▁a▁|▁b▁}} of { {▁ a b c d e ▁} }"),
        ("{% if a %}b{% endif %} C:\\new", "{%▁if▁a▁%}￭ b ￭{%▁endif▁%} C:\\new"),
        ('<a href="x y">this</a><br/>', '<a▁href="x▁y">￭ this ￭</a> ￭<br/>'),
        ("&amp;lt; is &lt;", "&lt; is <"),
        ("5% or 5%% or €5.00 or 10\u00a0000.", "5% or 5%% or €5.00 or 10\u00a0000 ."),
        ("100% sure, 5 % of a % b", "100% sure , 5 ▁% of a ▁% b"),
        ("and/or", "and ￭/￭ or"),
        ("5 % of 3,5 %, 20 € a month", "5 ▁% of 3,5 ▁% , 20 €▁ a month"),
        ("is &lt;s&gt; or <unk>", "is <￭ s ￭> or <￭ unk ￭>"),
        ("a &copyright; &copy; &#124;&#124;&#124;", "a &copyright; © | | |"),
        ("a<b then c>d", "a ￭<￭ b then c ￭>￭ d"),
        ("icon \ue000 here", "icon \u25a1 here"),
        ("👨\u200d👩\u200d👧 🇩🇪", "👨\u200d👩\u200d👧 🇩🇪"),
    ],
)
def test_protected_text(line: str, tokens: str) -> None:
    assert " ".join(tokenizer("en").tokenize(clean(line))) == tokens


def test_protected_text_keeps_its_case_from_raw_text_to_raw_text() -> None:
    preparation = Preparation(Words("de", "en", protected=("ID-[A-Z]+", "SQL")))
    line = "See HTTP://X.org/A_b and %S, $HOME, ID-XY or SQL."
    [prepared] = preparation.target([line])
    assert prepared == "see HTTP://X.org/A_b and %S , $HOME , ID-XY or SQL ."
    recaser = learn_recaser([["See", "this"], ["Do", "it"]], "en")
    assert restore([prepared], preparation, recaser) == [line]
    assert restore(["www.x.org is"], preparation, recaser) == ["www.x.org is"]


def test_what_only_its_container_needs_is_removed() -> None:
    assert clean("John&apos;s &#91;1&#93; AT&amp;T&nbsp;&#10;") == "John's [1] AT&T\u00a0 "
    assert clean("Zu\u00adcker\ufeff \u200bda\u2060 a\u200cb u\u0308 ￭") == "Zucker da ab \u00fc \u25a0"
    # joiners are part of words in other scripts
    assert clean("می\u200cخواهم 👨\u200d👩") == "می\u200cخواهم 👨\u200d👩"


def test_case_by_language() -> None:
    for change, language, text, expected in (
        (lower, "tr", "İki Işık I", "iki ışık ı"),
        (lower, "az-latn", "İki Işık I", "iki ışık ı"),
        (lower, "en", "İki Işık I", "i\u0307ki işık i"),
        (lower, "el", "ΟΔΟΣ", "οδος"),
        (lower, "lt", "Ì Į\u0301 I", "i\u0307\u0300 į\u0307\u0301 i"),
        (capitalize, "tr", "iyi", "İyi"),
        (capitalize, "en", "iyi", "Iyi"),
        *((capitalize, "en", *words) for words in (("aBC", "ABC"), ("", ""), ("1a", "1a"), ("élan", "Élan"))),
    ):
        assert change(text, language) == expected


def test_patterns_have_no_group_and_are_not_empty() -> None:
    for name in PATTERNS:
        check_pattern(PATTERNS[name])
    for pattern in ("(a)", "[", "a*", "a\tb", 1):
        with pytest.raises(ValueError):  # noqa: PT011 (any)
            check_pattern(pattern)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(["en", "de", "fr", "th", "zh", "fi"]))
def test_only_spaces_differ(pieces: list[str], language: str) -> None:
    """In whatever text, no character but spaces is lost or changed."""
    line = "".join(pieces)
    tokens = tokenizer(language).tokenize(clean(line))
    restored = tokenizer(language).detokenize(tokens)
    assert restored.replace(" ", "") == line.replace(" ", "").replace("''", '"')
    assert not any(token == "" or " " in token or token == JOIN for token in tokens)


@given(st.text(PLAIN, max_size=20))
def test_signs_of_protected_text(line: str) -> None:
    """A line with none of them is not searched; with a further pattern, all are searched."""
    assert finder()(line) == finder(("no such text",))(line)
