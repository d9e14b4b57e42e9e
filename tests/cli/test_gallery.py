"""gallery: names and folders, one cheap experiment from end to end, and what the files hold."""
# SPDX-License-Identifier: BSD-3-Clause
import json

import pytest

NAMES = [f"E{i}" for i in range(1, 15)]
KEYS = ["title", "source", "equation", "data", "see", "held", "claims", "numbers", "tables", "charts", "notes", "program", "seconds"]


def test_list(mercer, tmp_path):
    text = mercer("gallery", "--list").out
    assert text.count("\n") == 15 and "E10" in text
    listed = mercer("gallery", "--list", "--json").json
    assert [e["name"] for e in listed["experiments"]] == NAMES
    assert all(list(e) == ["name", "title"] and e["title"] for e in listed["experiments"])
    assert [e["name"] for e in mercer("gallery", "e3", "E1", "--list", "--json").json["experiments"]] == ["E1", "E3"]
    assert list(tmp_path.iterdir()) == []


def test_one_from_end_to_end(mercer, tmp_path):
    result = mercer("gallery", "e1", "--quick", "--out", "pictures/here")
    folder = tmp_path / "pictures" / "here"
    assert sorted(p.name for p in folder.iterdir()) == ["gallery.html", "gallery.json"]
    lines = result.out.splitlines()
    assert lines[0].split() == ["name", "experiment", "held", "seconds"]
    assert lines[1].split()[0] == "E1" and lines[-1].endswith("its numbers are in pictures/here/gallery.json")
    assert "did not hold" not in result.out

    page = (folder / "gallery.html").read_text()
    assert page.count("<script") == page.count("</script") and 'id="E1"' in page
    assert "mercer gallery e1 --quick --out pictures/here" in page and "A quick run, built-in data, seed 0" in page

    held = json.loads((folder / "gallery.json").read_text(), parse_constant=pytest.fail)
    assert list(held) == ["E1"] and list(held["E1"]) == KEYS
    e = held["E1"]
    assert e["held"] is True and e["claims"] and all(list(c) == ["text", "held"] and c["held"] is True for c in e["claims"])
    assert e["numbers"] and all(isinstance(v, float | int) for v in e["numbers"].values())
    assert all(list(t) == ["caption", "columns", "rows"] and all(len(row) == len(t["columns"]) for row in t["rows"]) for t in e["tables"])
    assert e["charts"] and all(list(c) == ["title", "description", "spec"] and c["spec"]["layer"] for c in e["charts"])
    assert e["program"].startswith("examples/gallery/") and e["seconds"] > 0


def test_json_and_seed(mercer, tmp_path):
    """The summary is that of the file; the same seed gives the same numbers on any number of threads."""
    said = mercer("gallery", "E1", "E2", "--quick", "--seed", "7", "--threads", "2", "--json").json
    assert list(said) == ["held", "setting", "experiments", "seconds", "files"]
    assert said["held"] is True and said["setting"].endswith("seed 7")
    assert said["files"] == {"page": "gallery/gallery.html", "numbers": "gallery/gallery.json"}
    held = json.loads((tmp_path / "gallery" / "gallery.json").read_text())
    assert list(said["experiments"]) == ["E1", "E2"]
    for name, e in said["experiments"].items():
        assert list(e) == ["title", "source", "held", "claims", "numbers", "seconds"]
        assert all(e[key] == held[name][key] for key in e)
    again = mercer("gallery", "E1", "E2", "--quick", "--seed", "7", "--threads", "1", "--json").json
    assert all(again["experiments"][name]["numbers"] == e["numbers"] for name, e in said["experiments"].items())


def test_wrong_use(mercer, tmp_path):
    message = mercer.fails(2, "gallery", "E15")
    assert 'there is no experiment "E15", did you mean E1' in message and "there are E1 to E14 (mercer gallery --list)" in message
    assert 'there is no experiment "RIDGE"; there are' in mercer.fails(2, "gallery", "ridge")
    assert "has no option --fast" in mercer.fails(2, "gallery", "--fast")
    assert "--out needs the name of a folder" in mercer.fails(2, "gallery", "E1", "--out", "")


def test_folders(mercer, tmp_path):
    message = mercer.fails(1, "gallery", "E1", "--data", "nowhere")
    assert message == "nowhere: there is no such folder; --data names the folder of the data sets, without it they are simulated"
    (tmp_path / "file").write_text("x")
    assert "file: is not a folder" in mercer.fails(1, "gallery", "E1", "--data", "file")
    assert "file: cannot be made a folder" in mercer.fails(1, "gallery", "E1", "--out", "file")
    assert "cannot be made a folder" in mercer.fails(1, "gallery", "E1", "--out", "file/below")


def test_an_empty_data_folder_is_as_none(mercer, tmp_path):
    (tmp_path / "data").mkdir()
    said = mercer("gallery", "E1", "--quick", "--data", "data", "--json").json
    assert said["held"] and said["setting"] == "A quick run, data of data, seed 0"
