"""Of tests that are compiled as one source (relayout_add_tests), none defines a name that another has a use for: a call in
that one could find its function, without a word from the compiler.

    test_names_test.py ROOT SOURCE...      the sources that CMake wrote, which include the tests
"""
import os
import re
import sys

# What begins in the first column stands in a namespace. A function's or variable's name is the last before what follows one.
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?|using(?! namespace)|#define) (\w+)\b(?!::)")
OTHER = re.compile(r"(?:\[\[\w+\]\] |alignas\(\w+\) )?[A-Za-z_][\w:<>,&*\s]*?[\s&*](\w+)(?:\(| =|\{|\[|;)")
NO_NAMES = ("TEST", "INSTANTIATE", "TYPED_TEST", "#include", "namespace", "using", "template")
USING = re.compile(r"^using [\w:]+::(\w+);", re.MULTILINE)
WORDLESS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|#include[^\n]*')


def names_and_words(path):
    """What a test defines in a namespace, every word of its code, and what it names by `using`."""
    with open(path, encoding="utf-8") as file:
        code = WORDLESS.sub("", file.read())
    names = set()
    for line in code.splitlines():
        match = TYPE.match(line) or (None if line.startswith(NO_NAMES) else OTHER.match(line))
        names |= {match.group(1)} if match else set()
    return names | set(USING.findall(code)), set(re.findall(r"\w+", code)), set(USING.findall(code))


def shared(test, other):
    """What the one defines and the other has, but for what both name by `using`."""
    return (test[0] & other[1]) - (test[2] & other[2])


def main(root, sources):
    good = True
    for source in sources:
        with open(source, encoding="utf-8") as file:
            tests = re.findall(r'#include "(.*)"', file.read())
        of_test = {test: names_and_words(os.path.join(root, test)) for test in tests}
        for test in tests:
            for other in tests:
                both = shared(of_test[test], of_test[other]) if test != other else None
                if both:
                    print(f"{test} defines what {other} has, too: {', '.join(sorted(both))}. Rename it, or put them into "
                          "different programs.")
                    good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
