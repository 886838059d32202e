"""What people bring as texts: encodings, tables, columns, rows that can be used and rows that cannot."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.data import texts
from jobs.data.encoding import decode, is_binary
from jobs.data.texts import Asked, Findings, Sample, read
from jobs.problem import Problem

ROWS = [
    (f"第{i}次买了，质量很好“下次”还来", "好评") if i % 3 else (f"第{i}单太差了；退货都不理人", "差评")
    for i in range(60)
]
NONE = Asked()


def table(delimiter: str = ",", header: str = "text,label", rows: list[tuple[str, str]] = ROWS) -> str:
    lines = [f'"{text}"{delimiter}{label}' for text, label in rows]
    return "\n".join([*([header.replace(",", delimiter)] if header else []), *lines, ""])


def good(
    data: bytes, file: str = "reviews.csv", asked: Asked = NONE, whole: bool = True
) -> tuple[list[Sample], Findings]:
    found = read(data, file, asked, whole)
    assert isinstance(found, tuple), found
    return found


def wrong(data: bytes, file: str = "reviews.csv", asked: Asked = NONE, whole: bool = True) -> Problem:
    found = read(data, file, asked, whole)
    assert isinstance(found, list), found
    return found[0]


@pytest.mark.parametrize(
    ("codec", "name"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8 (BOM)"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"),
     ("gb18030", "GB18030"), ("gbk", "GB18030")],
)  # fmt: skip
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_every_encoding_and_delimiter(codec: str, name: str, delimiter: str) -> None:
    samples, findings = good(table(delimiter).encode(codec), "reviews.tsv" if delimiter == "\t" else "reviews.csv")
    assert [(s.text, s.labels) for s in samples] == [(text, (label,)) for text, label in ROWS]
    assert findings.encoding == name
    assert findings.labels == {"好评": 40, "差评": 20}


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), min_size=1, max_size=200))
def test_what_was_encoded_is_decoded(text: str) -> None:
    for codec in ("utf-8", "utf-8-sig", "utf-16"):
        assert decode(text.encode(codec)).text == text.removeprefix("\ufeff")


def test_the_end_of_a_first_part_may_be_within_a_character() -> None:
    for codec in ("utf-8", "utf-16", "gb18030"):
        data = table().encode(codec)
        for cut in range(300, 312):
            assert decode(data[:cut], whole=False).damaged == 0
            good(data[: len(data) - cut], whole=False)


def test_quotes_newlines_and_commas_within_a_text() -> None:
    text = 'text,label\n"第一行\n第二行, ""引号""",好\n' + table(header="")
    samples, findings = good(text.encode())
    assert samples[0].text == '第一行\n第二行, "引号"'
    assert samples[1].row == 4, "an editor's line, not a count of rows"
    assert findings.rows == 61


def test_plain_lists_with_quotes_that_mean_nothing() -> None:
    """`text<TAB>label` as PaddleNLP's examples have it: a quote may stand anywhere."""
    lines = [f'"{text}\t{label}' if i % 7 == 0 else f"{text}\t{label}" for i, (text, label) in enumerate(ROWS)]
    samples, findings = good("\n".join(lines).encode(), "train.txt")
    assert findings.used == 60
    assert samples[0].text.startswith('"第0单')


def test_json_lines() -> None:
    lines = [
        json.dumps({"sentence": text, "category": label}, ensure_ascii=i % 2 == 0)
        for i, (text, label) in enumerate(ROWS)
    ]
    lines.insert(3, "{broken")
    samples, findings = good("\n".join(lines).encode(), "reviews.jsonl")
    assert findings.used == 60
    assert findings.left_out["json"].first == 4
    many = "\n".join(json.dumps({"text": t, "labels": ["a", "b"] if i % 2 else ["b"]}) for i, (t, _) in enumerate(ROWS))
    samples, findings = good(many.encode(), "m.jsonl")
    assert {s.labels for s in samples} == {("a", "b"), ("b",)}
    samples, findings = good(
        table(header="text,labels", rows=[(t, "快|好" if i % 2 else "慢") for i, (t, _) in enumerate(ROWS)]).encode()
    )
    assert findings.labels == {"好": 30, "快": 30, "慢": 30}


@pytest.mark.parametrize("header", ["文本,标签", "内容,类别", "Sentence,Label", "content,category", ""])
def test_columns_are_recognised(header: str) -> None:
    assert good(table(header=header).encode())[1].used == 60


def test_columns_that_are_named() -> None:
    rows = "\n".join(f"{i},{text},x,{label}" for i, (text, label) in enumerate(ROWS))
    problem = wrong(rows.encode())
    assert (problem.code, problem.facts["known"]) == ("data_no_text_column", "1, 2, 3, 4")
    assert good(rows.encode(), asked=Asked(text_column="2", label_column="4"))[1].used == 60
    problem = wrong(table(header="text,label").encode(), asked=Asked(label_column="lable"))
    assert (problem.code, problem.facts["nearest"]) == ("data_no_such_column", "label")
    assert wrong(table(header="text,note").encode()).code == "data_no_label_column"
    assert wrong(table().encode(), asked=Asked(text_column="label")).code == "data_same_column"


def test_rows_that_cannot_be_used_are_counted_with_their_reason() -> None:
    text, label = ROWS[1]
    more = [("", "好评"), (text, label), (ROWS[2][0], "差评"), ("只此一条", "中评"), ("没有标签", "")]
    data = table(rows=ROWS * 4 + more).encode() + b"one,two,three\n"
    samples, findings = good(data)
    counts = {reason: left.count for reason, left in findings.left_out.items()}
    assert counts == {"repeat": 3 * 60 + 1, "no_text": 1, "no_label": 1, "two_labels": 2, "columns": 1}
    assert findings.lost == 5
    assert findings.used + sum(counts.values()) == findings.rows
    assert findings.once == ["中评"]
    assert ROWS[2][0] not in {s.text for s in samples}, "which label is right cannot be known"


def test_too_much_left_out_stops_it_and_says_where_it_begins() -> None:
    torn = "text,label\n" + "\n".join(f"{t},{l}" if i % 8 else f"{t},x,{l}" for i, (t, l) in enumerate(ROWS))  # noqa: E741
    problem = wrong(torn.encode())
    assert problem.code == "data_too_many_left_out"
    assert (problem.facts["reason"], problem.facts["row"], problem.facts["lost"]) == ("columns", "2", "8")
    damaged = table().encode()
    for place in (200, 400, 600, 800, 1000):
        damaged = damaged[:place] + b"\xff" + damaged[place + 1 :]
    assert wrong(damaged).facts["reason"] == "characters"


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "data_empty"), (b" \n\n", "data_empty"), (b"PK\x03\x04workbook", "data_binary"), (b"\x89PNG\r\n" + bytes(999), "data_binary"),
     (table(rows=[(t, "好") for t, _ in ROWS]).encode(), "data_one_label"),
     (table(rows=[(t, str(i)) for i, (t, _) in enumerate(ROWS)]).encode(), "data_many_labels"),
     (table(rows=ROWS[:9]).encode(), "data_few_rows"), (b"text,label\n,\n,x\n", "data_nothing_usable")],
)  # fmt: skip
def test_files_that_cannot_be_trained_on(data: bytes, code: str) -> None:
    assert wrong(data).code == code


def test_a_first_part_is_judged_by_what_it_shows() -> None:
    """Sorted by label, the beginning of a file has one label only; few rows are enough."""
    ordered = sorted(ROWS, key=lambda row: row[1])
    assert good(table(rows=ordered).encode()[:900], whole=False)[1].labels.keys() == {"好评"}


@given(st.binary(max_size=400))
def test_nothing_makes_it_raise(data: bytes) -> None:
    for file in ("a.csv", "a.tsv", "a.jsonl"):
        found = read(data, file, NONE, whole=False)
        assert isinstance(found, list | tuple)
    is_binary(data)


def test_labels_of_any_kind_stay_as_they_are() -> None:
    rows = [(text, "01" if label == "好评" else "1") for text, label in ROWS]
    assert set(good(table(rows=rows).encode())[1].labels) == {"01", "1"}
    assert texts.SEPARATOR == "|"
