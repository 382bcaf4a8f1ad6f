"""The example bank_viewer: its table, its picture, and what it refuses.

Run as: python3 bank_viewer_test.py PATH_TO_BANK_VIEWER [unittest arguments]
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

VIEWER = None
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments):
    return subprocess.run([VIEWER, *arguments], capture_output=True, text=True, check=False)


def table(text):
    """layout -> (bytes, fill, least fill, drain, least drain, worst)"""
    rows = re.findall(r"^(dense|tile kernel|solved) +(\d+) +(\d+) \((\d+)\) +(\d+) \((\d+)\) +(\d+)  ", text, re.M)
    return {row[0]: tuple(map(int, row[1:])) for row in rows}


class BankViewer(unittest.TestCase):
    def view(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_square(self):
        """128 x 64 elements of 4 bytes: packed, every fourth row of 512 bytes meets in the same four banks."""
        for device, lanes in ("h200", 32), ("mi300x", 64):
            text = self.view("--device", device)
            self.assertIn(f"{lanes} lanes, 32 banks", text)
            rows = table(text)
            self.assertEqual(set(rows), {"dense", "tile kernel", "solved"})
            self.assertEqual(rows["dense"], (16384, 128, 128, 1024, 128, 8))
            self.assertEqual(rows["tile kernel"][1:], (128, 128, 128, 128, 1))
            self.assertEqual(rows["solved"][1:], (128, 128, 128, 128, 1))
            self.assertLessEqual(rows["solved"][0], rows["tile kernel"][0])

    def test_words_of_each_bank(self):
        lines = self.view().splitlines()
        words = [line.split()[1:] for line in lines if line.startswith("  words")]
        self.assertEqual(words[0], ["8"] * 4 + ["."] * 28)
        self.assertEqual(words[1], ["1"] * 32)
        self.assertEqual(words[2], ["1"] * 32)

    def test_other_types_and_axes(self):
        for dtype in "u8", "f16", "f32", "f64":
            rows = table(self.view("--shape", "48,28,30,48", "--axes", "3,2,1,0", "--dtype", dtype))
            dense, solved = rows["dense"], rows["solved"]
            self.assertLess(solved[1] + solved[3], dense[1] + dense[3])

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "banks.svg")
            self.view("--svg", path)
            self.assertEqual(os.listdir(folder), ["banks.svg"])
            layouts = xml.etree.ElementTree.parse(path).getroot().findall(f"{SVG}g")
            boxes = [layout.findall(f"{SVG}rect") for layout in layouts]
            self.assertEqual([len(one) for one in boxes], [32, 32, 32])
            dense = [box.find(f"{SVG}title").text for box in boxes[0]]
            self.assertEqual(len([title for title in dense if title.startswith("bank 0: lanes")]), 8)
            self.assertEqual(len({title.split(":")[0] for title in dense}), 4)
            kernel = {box.find(f"{SVG}title").text.split(":")[0] for box in boxes[1]}
            self.assertEqual(len(kernel), 32)

    def test_refusals(self):
        for arguments, words in ((["--dtype", "f8"], "--dtype is one of"), (["--device", "gpu"], "--device is one of"),
                                 (["--axes", "0,0"], "no permutation"), (["--shape", "x"], "--shape"),
                                 (["--svg", "/nowhere/a.svg"], "/nowhere"),
                                 (["--shape", "1,1"], "does not go through tiles")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(words, result.stdout + result.stderr)


if __name__ == "__main__":
    VIEWER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
