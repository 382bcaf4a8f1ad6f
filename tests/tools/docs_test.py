#!/usr/bin/env python3
"""The documents: relative links and anchors lead somewhere, lines are short enough to read, and the program of the
README is the one that tests/docs_test.cpp compiles."""
import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 200
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents():
    return sorted(PROJECT.glob("*.md")) + sorted((PROJECT / "docs").rglob("*.md"))


def without_code(text):
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`", "", text)


def anchors(text):
    """The anchors of the headings, as GitHub makes them: lower case, hyphens for blanks, no other signs."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL),
                              flags=re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 1
        anchor = words
        while anchor in found:
            anchor, number = f"{words}-{number}", number + 1
        found.add(anchor)
    return found


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for document in documents():
            for target in LINK.findall(without_code(document.read_text(encoding="utf-8"))):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                path, _, anchor = target.partition("#")
                file = (document.parent / path).resolve()
                with self.subTest(document=str(document.relative_to(PROJECT)), link=target):
                    self.assertTrue(path, "Doxygen follows an anchor only behind its file's name")
                    self.assertTrue(file.exists(), "there is no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(file.read_text(encoding="utf-8")), "there is no such heading")
        self.assertGreater(count, 50, "the links were not found")

    def test_lines_are_short(self):
        for document in documents():
            for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
                with self.subTest(document=str(document.relative_to(PROJECT)), line=number):
                    self.assertLessEqual(len(line), LONGEST)

    def test_the_readme_s_program_is_compiled(self):
        readme = (PROJECT / "README.md").read_text(encoding="utf-8")
        shown = re.search(r"^```cpp\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL).group(1)
        source = (PROJECT / "tests" / "docs_test.cpp").read_text(encoding="utf-8")
        compiled = re.search(r"^// README begins\n(.*?)^// README ends$", source, flags=re.MULTILINE | re.DOTALL).group(1)
        self.assertEqual(shown, compiled)


if __name__ == "__main__":
    unittest.main()
