#!/usr/bin/env python3
"""docs/speed.svg is what tools/draw-speed makes of docs/speed.json, and every figure of the JSON stands in the document
that its group names."""
import json
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

PROJECT = pathlib.Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"


def figures(case):
    return [case[name] for name in ("share", "us", "ratio") if case.get(name)] + list(case.get("times", {}).values())


class SpeedPicture(unittest.TestCase):
    def test_the_picture_is_what_the_script_draws(self):
        drawn = subprocess.run([sys.executable, PROJECT / "tools" / "draw-speed", "-"], capture_output=True, check=True,
                               encoding="utf-8").stdout
        self.assertEqual(drawn, (DOCS / "speed.svg").read_text(encoding="utf-8"), "run tools/draw-speed")
        xml.etree.ElementTree.fromstring(drawn)

    def test_the_figures_stand_in_the_documents(self):
        data = json.loads((DOCS / "speed.json").read_text(encoding="utf-8"), parse_float=str, parse_int=str)
        for group in data["groups"]:
            text = " ".join((PROJECT / group["document"]).read_text(encoding="utf-8").split())
            for commit in (group["commit"], group["peers_commit"]):
                self.assertIn(commit, text)
            for case in group["cases"]:
                for figure in figures(case):
                    with self.subTest(case=case["case"], figure=figure):
                        self.assertRegex(text, rf"(?<![\d.]){re.escape(figure)}(?![\d])")


if __name__ == "__main__":
    unittest.main()
