"""relayout_bench compare on results written by hand: what is set side by side, what is refused, and the page.

Run as: python3 compare_test.py PATH_TO_RELAYOUT_BENCH [unittest arguments]
"""

import copy
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BENCH = None
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def row(name, seconds, copies, group="", **parameters):
    suite = name.split("/")[0]
    parameters = {"operation": suite, "in_type": "f32", "out_type": "f32", "shape": [1000, 125], **parameters}
    made = {"name": name, "suite": suite, "bytes": 1000000, "parameters": parameters, "seconds": seconds,
            "copy_seconds": copies}
    if group:
        made["group"] = group
    return made


def document(rows, commit="aaa"):
    return {"device": {"kind": "gpu(0)", "name": "Some <GPU> & more", "architecture": "sm_00", "driver": "driver 1"},
            "compiler": "compiler 2", "commit": commit, "host_threads": 3, "date": "2000-01-01T00:00:00Z", "rows": rows}


# Shares in the first: 0.5, 0.125, 0.8; in the second: 0.25, 0.5. Speeds of the second: 0.5, 4.
FIRST = document([row("permute/one", 10e-6, {"a": 5e-6, "b": 7e-6}, "left", axes=[1, 0]),
                  row("permute/two", 40e-6, {"a": 5e-6}, "right", axes=[1, 0]),
                  row("cast/alone", 10e-6, {"a": 8e-6})])
SECOND = document([row("permute/one", 20e-6, {"a": 5e-6}, "left", axes=[1, 0]),
                   row("permute/two", 10e-6, {"a": 5e-6}, "right", axes=[1, 0])], commit="bbb")


class Nesting(html.parser.HTMLParser):
    """Fails on an element that is closed out of order or not at all."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.attributes += attributes

    def handle_startendtag(self, tag, attributes):
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open}"
        self.open.pop()

    def handle_data(self, text):
        self.text.append(text)


class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compare(self, documents, *arguments):
        for name, content in documents.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(content if isinstance(content, str) else json.dumps(content))
        return subprocess.run([BENCH, "compare", *documents, *arguments], capture_output=True, text=True,
                              cwd=self.folder)

    def table(self, documents, *arguments):
        """{beginning of a line: its other words}, of the lines before the worst cases."""
        done = self.compare(documents, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        lines = {}
        for line in done.stdout.split("\nLowest")[0].splitlines():
            words = re.split(r"\s{2,}", line.strip())
            lines[words[0]] = words[1:]
        return lines, done.stdout

    def refused(self, documents, *words):
        done = self.compare(documents)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_figures_of_a_row(self):
        lines, _ = self.table({"a.json": FIRST, "b.json": SECOND})
        # MB; us, GB/s, share of each; the second's speed.
        self.assertEqual(lines["permute/one"],
                         ["1.00", "10.00", "100.0", "0.500", "20.00", "50.0", "0.250", "0.50"])

    def test_geometric_means(self):
        lines, _ = self.table({"a.json": FIRST, "b.json": SECOND})
        self.assertEqual(lines["permute"], ["2 cases", "0.250", "0.354", "1.41"])  # sqrt(1/16), sqrt(1/8), sqrt(2)
        self.assertEqual(lines["permute: left"], ["1 case", "0.500", "0.250", "0.50"])
        self.assertEqual(lines["permute: right"], ["1 case", "0.125", "0.500", "4.00"])
        self.assertEqual(lines["cast"], ["1 case", "0.800", "-", "-"])

    def test_means_are_over_the_same_cases(self):
        third = copy.deepcopy(SECOND)
        third["rows"].append(row("permute/three", 5e-6, {"a": 5e-6}, "right", axes=[1, 0]))
        lines, out = self.table({"a.json": FIRST, "b.json": SECOND, "c.json": third})
        self.assertIn("  cast/alone: only in 1\n", out)
        self.assertEqual(lines["permute"], ["2 cases", "0.250", "0.354", "1.41", "0.354", "1.41"])
        self.assertIn("  permute/three: only in 3\n", out)

    def test_a_row_of_parts_is_held_against_the_slowest(self):
        overlap = row("overlap/x", 10e-6, {})
        del overlap["copy_seconds"]
        overlap["part_seconds"] = {"the host's work": 4e-6, "the copies": 8e-6}
        lines, _ = self.table({"a.json": document([overlap])})
        self.assertEqual(lines["overlap/x"], ["1.00", "10.00", "100.0", "0.800"])

    def test_one_file_alone(self):
        lines, out = self.table({"a.json": FIRST})
        self.assertEqual(lines["permute"], ["2 cases", "0.250"])
        self.assertNotIn("Not in every column", out)

    def test_equal_files(self):
        lines, out = self.table({"a.json": FIRST, "b.json": FIRST})
        self.assertEqual(lines["permute"], ["2 cases", "0.250", "0.250", "1.00"])
        self.assertNotIn("Not in every column", out)

    def test_worst_cases_come_first(self):
        _, out = self.table({"a.json": FIRST, "b.json": SECOND}, "--worst", "2")
        found = re.findall(r"((?:Low|High)est \w+) in (\d)[^\n]*\n  (\S+) +(\S+)\n  (\S+) +(\S+)\n", out)
        self.assertEqual(found, [("Lowest shares", "1", "permute/two", "0.125", "permute/one", "0.500"),
                                 ("Lowest shares", "2", "permute/one", "0.250", "permute/two", "0.500"),
                                 ("Lowest speeds", "2", "permute/one", "0.500", "permute/two", "4.000"),
                                 ("Highest speeds", "2", "permute/two", "4.000", "permute/one", "0.500")])

    def test_what_one_file_lacks_is_listed(self):
        failed = copy.deepcopy(SECOND)
        del failed["rows"][1]["seconds"]
        failed["rows"][1]["error"] = "out of memory"
        lines, out = self.table({"a.json": FIRST, "b.json": failed})
        self.assertIn("  cast/alone: only in 1\n", out)
        self.assertIn("  permute/two: not timed in 2: out of memory\n", out)
        self.assertEqual(lines["permute"], ["1 case", "0.500", "0.250", "0.50"])

    def test_what_several_files_have_but_not_all(self):
        _, out = self.table({"a.json": FIRST, "b.json": document([SECOND["rows"][0]]), "c.json": SECOND})
        self.assertIn("  permute/two: not in 2\n", out)

    def test_the_origin_is_stated(self):
        _, out = self.table({"a.json": FIRST, "b.json": SECOND})
        for words in ("gpu(0), Some <GPU> & more, sm_00", "driver 1", "compiler 2", "aaa", "bbb", "2000-01-01"):
            self.assertIn(words, out)

    def test_filter(self):
        lines, out = self.table({"a.json": FIRST, "b.json": SECOND}, "--filter", "one$")
        self.assertEqual(lines["permute"], ["1 case", "0.500", "0.250", "0.50"])
        self.assertNotIn("two", out)
        self.assertEqual(self.compare({"a.json": FIRST}, "--filter", "nothing").returncode, 2)

    def test_different_cases_are_refused(self):
        for field, value, words in (("shape", [125, 1000], "shape is [1000,125] in a.json and [125,1000] in b.json"),
                                    ("axes", [0, 1], "axes is [1,0] in a.json and [0,1] in b.json"),
                                    ("in_type", "f16", 'in_type is "f32" in a.json and "f16" in b.json')):
            other = copy.deepcopy(SECOND)
            other["rows"][0]["parameters"][field] = value
            with self.subTest(field):
                self.refused({"a.json": FIRST, "b.json": other}, "permute/one", words)
        other = copy.deepcopy(SECOND)
        other["rows"][1]["bytes"] = 2
        self.refused({"a.json": FIRST, "b.json": other}, "permute/two", "bytes is 1000000 in a.json and 2 in b.json")
        other = copy.deepcopy(SECOND)
        del other["rows"][1]["parameters"]["axes"]
        self.refused({"a.json": FIRST, "b.json": SECOND, "c.json": other}, "permute/two",
                     "axes is [1,0] in a.json and not stated in c.json")

    def test_files_that_are_no_results_are_refused(self):
        self.refused({"a.json": "no JSON"}, "a.json")
        self.refused({"a.json": []}, "a.json", "'rows'")
        self.refused({"a.json": document([FIRST["rows"][0]] * 2)}, "a.json, row permute/one", "twice")
        for field in ("suite", "bytes", "parameters"):
            broken = copy.deepcopy(FIRST["rows"][0])
            del broken[field]
            self.refused({"a.json": document([broken])}, "a.json, row permute/one", field)
        for seconds in (0, -1, "fast"):
            broken = dict(FIRST["rows"][0], seconds=seconds)
            self.refused({"a.json": document([broken])}, "a.json, row permute/one", "no positive number")
        for size in (1e300, "1", -0.5, -1, 2 ** 63, 2 ** 64):
            broken = dict(FIRST["rows"][0], bytes=size)
            self.refused({"a.json": document([broken])}, "a.json, row permute/one", "no whole number")
        self.refused({"a.json": '{"rows": ' + "[" * 200000 + "]" * 200000 + "}"}, "a.json", "levels deep")

    def test_a_page_does_not_replace_its_input(self):
        for name in ("a.json", "./a.json"):
            done = self.compare({"a.json": FIRST}, "--html", name)
            self.assertEqual(done.returncode, 2)
            self.assertIn("a.json", done.stderr)
            with open(os.path.join(self.folder, "a.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file), FIRST)

    def test_peers_are_columns(self):
        case = {key: FIRST["rows"][0][key] for key in ("name", "suite", "group", "bytes", "parameters")}
        peers = {"device": {"name": "Some GPU"}, "date": "2001", "rows":
                 [dict(case, copy_seconds={"c": 6e-6},
                       peers={"torch": {"seconds": 30e-6, "route": "x"}, "jax": {"error": "no room"}})],
                 "peers": {"torch": {"version": "PyTorch 9", "runtime": "CUDA 8"}, "jax": {"version": "JAX 7"}}}
        lines, out = self.table({"a.json": FIRST, "p.json": peers})
        self.assertEqual(lines["permute/one"], ["1.00", "10.00", "100.0", "0.500",
                                                "30.00", "33.3", "0.200", "0.33", "failed"] + ["-"] * 3)
        for words in ("2  p.json: torch", "3  p.json: jax", "PyTorch 9", "CUDA 8", "JAX 7",
                      "permute/one: not timed in 3: no room",
                      "permute/two: only in 1"):
            self.assertIn(words, out)

    def page(self):
        path = os.path.join(self.folder, "page.html")
        self.table({"a.json": FIRST, "b<&>.json": SECOND}, "--html", path)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_the_page_is_well_formed(self):
        page = self.page()
        parser = Nesting()
        parser.feed(page)
        parser.close()
        self.assertEqual(parser.open, [])
        root = xml.etree.ElementTree.fromstring(page)
        self.assertEqual(root.tag, XHTML + "html")
        text = "\n".join(root.itertext())
        for words in ("permute/one", "permute/two", "cast/alone", "Some <GPU> & more", "b<&>.json", "driver 1",
                      "compiler 2", "aaa", "bbb", "cast/alone: only in 1", "1.41"):
            self.assertIn(words, text)

    def test_the_page_needs_nothing_else(self):
        parser = Nesting()
        parser.feed(self.page())
        for name, value in parser.attributes:
            self.assertNotIn(name, ("src", "href", "srcset", "data", "action"))
            if name != "xmlns":
                self.assertNotIn("://", value)
        self.assertNotIn("url(", self.page())
        self.assertNotIn("@import", self.page())

    def test_bars_are_as_long_as_the_shares(self):
        root = xml.etree.ElementTree.fromstring(self.page())
        widths = {}
        for svg in root.iter(SVG + "svg"):
            for rectangle in svg.iter(SVG + "rect"):
                title = rectangle.find(SVG + "title").text
                widths[title.split(":")[0]] = (float(rectangle.get("width")), rectangle.get("class"))
        # Names of the same length stand at the same place: bars compare across drawings.
        unit = widths["permute/one, a.json"][0] / 0.5
        for title, share, colour in (("permute/one, a.json", 0.5, "c1"), ("permute/one, b<&>.json", 0.25, "c2"),
                                     ("permute/two, a.json", 0.125, "c1"), ("permute/two, b<&>.json", 0.5, "c2")):
            self.assertAlmostEqual(widths[title][0], share * unit, delta=0.2)
            self.assertEqual(widths[title][1], colour)
        self.assertEqual(len(widths), 5)


if __name__ == "__main__":
    BENCH = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
