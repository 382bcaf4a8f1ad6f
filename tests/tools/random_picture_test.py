#!/usr/bin/env python3
"""docs/random.svg is what tools/draw-random makes of docs/random.json, the figures stand in the documents, and the JSON says
what the results say."""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "tools"))
sys.dont_write_bytecode = True

import random_figures  # noqa: E402
import random_rows  # noqa: E402


def published():
    return json.loads((PROJECT / "docs" / "random.json").read_text(encoding="utf-8"))


def result(seed):
    """Four problems of each family. A copy takes 10 us; relayout has the shares 0.2, 0.4, 0.5 and 1."""
    problems = [{"name": f"{family}-{seed}-{index}", "csv": f"1,{seed},{index},{family},,,,", "family": family,
                 "bytes": 8000000 * 2**index, "microseconds": 10 / share, "copy_microseconds": 10, "share_of_copy": share}
                for family in random_figures.FAMILIES for index, share in enumerate((1, 0.2, 0.5, 0.4))]
    return {"suite": "random", "generator": 1, "commit": "abc", "date": "2026-01-02T03:04:05Z",
            "device": {"name": "A GPU", "driver": "13"}, "problems": problems}


def beside(ours, times):
    """PyTorch on the first problems of each family, one for each time; None where it has no way."""
    rows = []
    for family in random_figures.FAMILIES:
        first = [problem for problem in ours["problems"] if problem["family"] == family]
        for problem, time in zip(first, times):
            rows.append(dict(problem, peers={"torch": {"microseconds": time} if time else {"skipped": "no route"}}))
    return {"relayout": {key: ours[key] for key in ours if key != "problems"}, "versions": {"torch": "2.11"}, "problems": rows}


class RandomPicture(unittest.TestCase):
    def collect(self, results, peers):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, document in enumerate(results + peers):
                paths.append(pathlib.Path(folder) / f"{number}.json")
                paths[-1].write_text(json.dumps(document), encoding="utf-8")
            return random_figures.collect(paths[:len(results)], paths[len(results):], "a command")

    def test_the_picture_is_what_the_script_draws(self):
        drawn = subprocess.run([sys.executable, "-B", PROJECT / "tools" / "draw-random", "-"], capture_output=True, check=True,
                               encoding="utf-8").stdout
        self.assertEqual(drawn, (PROJECT / "docs" / "random.svg").read_text(encoding="utf-8"), "run tools/draw-random")
        xml.etree.ElementTree.fromstring(drawn)

    def test_the_figures_stand_in_the_document(self):
        self.assertEqual(random_rows.missing(published()), [])

    def test_percentiles_are_by_nearest_rank(self):
        shares = random_figures.percentiles([0.4, 0.1, 0.3, 0.20049])
        self.assertEqual([shares[percent] for percent in (0, 25, 26, 50, 51, 75, 76, 100)], [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.4])

    def test_figures_follow_from_the_results(self):
        ours = result(101)
        # Relayout takes 10, 50 and 20 us for the first three: PyTorch is 2 times as fast, cannot, 4 % faster.
        data = self.collect([ours, result(102)], [beside(ours, (5, None, 19.2))])
        self.assertEqual((data["seeds"], data["megabytes"], data["pytorch"], data["commit"]), ([101, 102], [8, 64], "2.11", "abc"))
        for family in data["families"]:
            both = family["both"]
            self.assertEqual((family["problems"], both["given"], both["problems"]), (8, 3, 2))
            self.assertEqual((both["faster_by_3"], both["faster_by_15"], both["geometric"]), (2, 1, round((0.5 * 0.96)**0.5, 3)))
            self.assertEqual([family["relayout"][percent] for percent in (1, 50, 100)], [0.2, 0.4, 1])
            self.assertEqual([both["relayout"][0], both["relayout"][100]], [0.5, 1])
            self.assertEqual([both["pytorch"][0], both["pytorch"][100]], [0.521, 2])

    def test_unfair_comparisons_are_refused(self):
        ours = result(101)
        failed, elsewhere, partial = copy.deepcopy(ours), result(102), result(101)
        failed["problems"][3]["error"] = "wrong"
        elsewhere["device"]["name"] = "Another GPU"
        partial["problems"].pop()
        for results, peers, sentence in (
                ([failed], [], "permute-101-3 failed: wrong"),
                ([ours, elsewhere], [], "of another machine"),
                ([ours, ours], [], "which an earlier file or line has"),
                ([dict(ours, problems=ours["problems"][4:])], [], "no result has the family permute"),
                ([ours], [beside(elsewhere, (5,))], "of another machine"),
                ([partial], [beside(ours, (5, 5, 5, 5))], "no result has the peers' quantized-101-3")):
            with self.subTest(sentence=sentence), self.assertRaisesRegex(ValueError, sentence):
                self.collect(results, peers)

    def test_new_figures_take_the_place_of_the_old_ones(self):
        old, ours = published(), result(101)
        new = self.collect([ours], [beside(ours, (5, 5))])
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(random_rows, "PROJECT", pathlib.Path(folder)):
            (random_rows.PROJECT / "docs").mkdir()
            text, copy = (root / random_rows.DOCUMENT for root in (PROJECT, random_rows.PROJECT))
            copy.write_bytes(text.read_bytes())
            self.assertEqual(random_rows.renew(old, new), [])
            self.assertNotEqual(random_rows.missing(old), [])
            self.assertEqual(random_rows.renew(new, old), [])
            self.assertEqual(copy.read_text(encoding="utf-8"), text.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
