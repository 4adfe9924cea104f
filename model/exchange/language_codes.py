"""Language codes of other projects as this one has them: ISO 639-1 in lower case where there is one."""

from __future__ import annotations

import re

_CODE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*")
# ISO 639-3 codes that have a two-letter one; then what OPUS writes for the usual form of a language with several,
# and Norwegian, whose written form is nearly always Bokmål.
_PAIRS = """
    aar:aa abk:ab afr:af aka:ak amh:am ara:ar arg:an asm:as ava:av ave:ae aym:ay aze:az bak:ba bam:bm bel:be ben:bn
    bis:bi bod:bo bos:bs bre:br bul:bg cat:ca ces:cs cha:ch che:ce chu:cu chv:cv cor:kw cos:co cre:cr cym:cy dan:da
    deu:de div:dv dzo:dz ell:el eng:en epo:eo est:et eus:eu ewe:ee fao:fo fas:fa fij:fj fin:fi fra:fr fry:fy ful:ff
    gla:gd gle:ga glg:gl glv:gv grn:gn guj:gu hat:ht hau:ha hbs:sh heb:he her:hz hin:hi hmo:ho hrv:hr hun:hu hye:hy
    ibo:ig ido:io iii:ii iku:iu ile:ie ina:ia ind:id ipk:ik isl:is ita:it jav:jv jpn:ja kal:kl kan:kn kas:ks kat:ka
    kau:kr kaz:kk khm:km kik:ki kin:rw kir:ky kom:kv kon:kg kor:ko kua:kj kur:ku lao:lo lat:la lav:lv lim:li lin:ln
    lit:lt ltz:lb lub:lu lug:lg mah:mh mal:ml mar:mr mkd:mk mlg:mg mlt:mt mon:mn mri:mi msa:ms mya:my nau:na nav:nv
    nbl:nr nde:nd ndo:ng nep:ne nld:nl nno:nn nob:nb nya:ny oci:oc oji:oj ori:or orm:om oss:os pan:pa pli:pi pol:pl
    por:pt pus:ps que:qu roh:rm ron:ro run:rn rus:ru sag:sg san:sa sin:si slk:sk slv:sl sme:se smo:sm sna:sn snd:sd
    som:so sot:st spa:es sqi:sq srd:sc srp:sr ssw:ss sun:su swa:sw swe:sv tah:ty tam:ta tat:tt tel:te tgk:tg tgl:tl
    tha:th tir:ti ton:to tsn:tn tso:ts tuk:tk tur:tr twi:tw uig:ug ukr:uk urd:ur uzb:uz ven:ve vie:vi vol:vo wln:wa
    wol:wo xho:xh yid:yi yor:yo zha:za zho:zh zul:zu

    als:sq arb:ar azj:az cmn:zh ekk:et khk:mn lvs:lv npi:ne ory:or pes:fa plt:mg swh:sw uzn:uz ydd:yi zsm:ms
    no:nb nor:nb
"""
_SHORTER = dict(pair.split(":") for pair in _PAIRS.split())
# ISO 639-5, families of languages; and "several languages".
_FAMILIES = """
    aav afa alg alv apa aqa aql art ath auf aus awd azc bad bai bat ber bih bnt btk cai cau cba ccn ccs cdc cdd cel
    cmc cpe cpf cpp crp csu cus day dmn dra egx esx euq fiu fox gem gme gmq gmw grk hmx hok hyx iir ijo inc ine ira
    iro itc jpx kar kdo khi kro map mkh mno mul mun myn nah nai ngf nic nub omq omv oto paa phi plf poz pqe pqw pra
    qwe roa sai sal sdv sem sgn sio sit sla smi son sqj ssa syd tai tbq trk tup tut tuw urj wak wen xgn xnd ypk zhx
    zle zls zlw znd
"""


def language_code(spelling: str) -> str:
    """`eng` is en, `pt_BR` is pt-br, `cmn_Hans` is zh-hans; ValueError for what is no single language, as ROMANCE."""
    base, *rest = spelling.strip().replace("_", "-").split("-")
    base = base.lower() if len(base) <= 3 else base  # EN is a language, ROMANCE a group of them
    code = "-".join([_SHORTER.get(base, base), *map(str.lower, rest)])
    if not _CODE.fullmatch(code) or code in _FAMILIES.split():
        raise ValueError(f"{spelling!r} is not the code of one language")
    return code
