#!/usr/bin/env python3
"""The examples of docs/python.md run, and say what the comments behind them say. Those with torch run where it is."""
import importlib.util
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Docs(unittest.TestCase):
    def test_examples(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 10)
        names, checked = {}, 0
        for block in blocks:
            if "import torch" in block and importlib.util.find_spec("torch") is None:
                continue
            with self.subTest(block):
                exec(compile(block, str(PAGE), "exec"), names)  # later examples use what earlier ones made
                for line, expected in re.findall(r"^(.*?)\s+# -> (.*)$", block, re.MULTILINE):
                    value = line.split(" = ")[0] if " = " in line else line
                    self.assertEqual(str(eval(value, names)).replace("\n", ""), expected, line)
                    checked += 1
        self.assertGreaterEqual(checked, 10)


if __name__ == "__main__":
    unittest.main()
