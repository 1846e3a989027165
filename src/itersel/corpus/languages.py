"""Codes of languages: one for each, as Debian writes them."""

from __future__ import annotations

import functools
import re

# de, pt-br
LANGUAGE_PATTERN = r"[a-z]{2,3}(-[a-z]+)*"
# Before `usual_code`: also DE, pt_BR
ANY_LANGUAGE_PATTERN = r"[A-Za-z]{2,3}([-_][A-Za-z]+)*"

# ISO 639: the code of two letters, then those of three letters for the same language.
_CODES = """
    aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul
    bh:bih bi:bis bm:bam bn:ben bo:bod:tib br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces:cze
    cu:chu cv:chv cy:cym:wel da:dan de:deu:ger dv:div dz:dzo ee:ewe el:ell:gre en:eng eo:epo es:spa et:est
    eu:eus:baq fa:fas:per ff:ful fi:fin fj:fij fo:fao fr:fra:fre fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj
    gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye:arm hz:her ia:ina id:ind ie:ile ig:ibo
    ii:iii ik:ipk io:ido is:isl:ice it:ita iu:iku ja:jpn jv:jav ka:kat:geo kg:kon ki:kik kj:kua kk:kaz
    kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin
    lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri:mao mk:mkd:mac ml:mal mn:mon mr:mar ms:msa:may mt:mlt
    my:mya:bur na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld:dut nn:nno no:nor nr:nbl nv:nav ny:nya oc:oci
    oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron:rum ru:rus
    rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk:slo sl:slv sm:smo sn:sna so:som sq:sqi:alb
    sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton
    tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho
    yi:yid yo:yor za:zha zh:zho:chi zu:zul
"""
# Codes of single languages, where corpora use them for the language as it is usually written, and old codes.
_OTHERS = """
    ar:arb az:azj et:ekk fa:pes he:iw id:in jv:jw lv:lvs mg:plt mn:khk ms:zsm ne:npi or:ory ps:pbt ro:mo
    sq:als sw:swh uz:uzn yi:ji:ydd zh:cmn
"""


@functools.cache
def _short() -> dict[str, str]:
    """Return the code of each language by its other codes."""
    listed = [word.split(":") for word in (_CODES + _OTHERS).split()]
    return {other: code for code, *others in listed for other in others}


# Languages written without spaces: Thai, Lao, Burmese, Khmer and Tibetan; then also Chinese and Japanese.
SOUTH_EAST_LANGUAGES = ("th", "lo", "my", "km", "bo")
UNSPACED_LANGUAGES = (*SOUTH_EAST_LANGUAGES, "zh", "ja")


def primary_language(code: str) -> str:
    """Return the code of a language without its region: ``pt`` for ``pt-br``."""
    return code.partition("-")[0]


def is_unspaced(code: str) -> bool:
    """Return whether a language, whose code may include a region, is written without spaces."""
    return primary_language(code) in UNSPACED_LANGUAGES


def usual_code(code: str) -> str:
    """Return the code that is used for a language here: ``zh`` for ``zho``, ``pt-br`` for ``por_BR``.

    Rules and tokenisers are chosen by it, so each language must have one code only.
    """
    language, *region = re.split("[-_]", code.lower())
    return "-".join((_short().get(language, language), *region))
