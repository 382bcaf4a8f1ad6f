"""Mutants: single faults that the tests must see.

    mutants.py sources                          the files that mutants change
    mutants.py groups                           the names of groups of mutants, which are those of mutants up to their dots
    mutants.py plant ROOT SOURCE OUTPUT         SOURCE with all its mutants, each asleep until its run
    mutants.py check ROOT PROGRAM NAME          runs the tests of mutant NAME, or of each of the group NAME; fails if they pass
    mutants.py check ROOT PROGRAM none          the same tests without a mutant; fails if one fails
    mutants.py fuzz PROGRAM CASES               the random driver against each mutant of FUZZED in turn; fails if one is
                                                not seen in so many cases

A header's mutants are compiled in the sources of HEADER_UNITS, which find the planted header first.

All mutants of a source are compiled into one object: `old` becomes `planted(number) ? new : old`, and the environment
variable RELAYOUT_MUTANT chooses the number. So old and new are expressions, of one type: where they differ, both are
converted to a common one, without a mutant too. `old` must occur once; runs of white space are equal; @...@ marks what
is replaced where the rest only says which of several places is meant.
"""
import fnmatch
import os
import platform
import re
import subprocess
import sys

from mutant_table import FUZZED, HEADER_UNITS, MUTANTS


HANGS_AFTER = 600  # seconds; the tests of a mutant take two


def group_of(mutant):
    return mutant.name.partition(".")[0]


def here(mutant):
    return not mutant.x86 or platform.machine() in ("x86_64", "AMD64")


def pattern_of(old):
    """The regular expression that finds `old`, its first group what is replaced."""
    parts = old.split("@")
    before, replaced, after = parts if len(parts) == 3 else ("", old, "")
    before, replaced, after = (r"\s+".join(map(re.escape, part.split())) for part in (before, replaced, after))
    return rf"{before}\s*({replaced})\s*{after}"


def find(text, mutant):
    """The place of a mutant in its source, or None where it does not occur exactly once."""
    places = [match.span(1) for match in re.finditer(pattern_of(mutant.old), text)]
    return places[0] if len(places) == 1 else None


def read(root, source):
    with open(os.path.join(root, source), encoding="utf-8") as file:
        return file.read()


def planted(text, begin, end, edits):
    """text[begin:end] with its edits: (begin, end) -> [(number, new)], one within another or apart."""
    result, at = "", begin
    for place in sorted(edits, key=lambda place: (place[0], -place[1])):
        if place[0] < at or place[1] > end:
            continue
        inner = {other: made for other, made in edits.items() if other != place}
        expression = f"({planted(text, *place, inner)})"
        for number, new in reversed(edits[place]):
            expression = f"(::relayout::mutant::planted({number}) ? ({new}) : {expression})"
        result += text[at:place[0]] + expression
        at = place[1]
    return result + text[at:end]


def plant(root, source, output):
    text = read(root, source)
    edits = {}
    for number, mutant in enumerate(MUTANTS):
        place = find(text, mutant) if mutant.source == source else None
        if place:
            edits.setdefault(place, []).append((number, mutant.new))
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "tests/mutants/mutant.hpp"\n')
        file.write(f'#line 1 "{source}"\n{planted(text, 0, len(text), edits)}')


def environment_of(number):
    environment = {key: value for key, value in os.environ.items() if key != "RELAYOUT_MUTANT"}
    environment["OMP_NUM_THREADS"] = "2"  # on machines with one processor too
    if number is not None:
        environment["RELAYOUT_MUTANT"] = str(number)
    return environment


def run(program, test_filter, number=None):
    environment = environment_of(number)
    command = [program, f"--gtest_filter={test_filter}", "--gtest_fail_fast", "--gtest_brief=1"]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=None if number is None else HANGS_AFTER, check=False)


FAILED = re.compile(r"\[  FAILED  \] ([^\s,]+)")


def belongs(test, test_filter):
    """Whether GoogleTest's filter lets the test run."""
    wanted, _, unwanted = test_filter.partition("-")
    matches = [any(fnmatch.fnmatchcase(test, pattern) for pattern in part.split(":")) for part in (wanted, unwanted)]
    return matches == [True, False]


def check(root, program, name):
    if name == "none":
        filters = {mutant.tests for mutant in MUTANTS}
        with_exceptions = sorted(tests for tests in filters if "-" in tests)  # all that follows a '-' is left out
        results = [run(program, tests) for tests in [":".join(sorted(filters - set(with_exceptions))), *with_exceptions]]
        print("".join(result.stdout for result in results))
        return all(result.returncode == 0 and "PASSED" in result.stdout for result in results)
    chosen = [(number, mutant) for number, mutant in enumerate(MUTANTS) if name in (mutant.name, group_of(mutant)) and here(mutant)]
    if not chosen:
        print(f"there is no mutant {name}")
    watchful = []  # the tests that saw a mutant of the group see most others, and save running those before them
    return all([is_seen(root, program, number, mutant, watchful) for number, mutant in chosen]) and bool(chosen)


def is_seen(root, program, number, mutant, watchful):
    """watchful: tests that may be the first to run where they are the mutant's; the one that sees it joins them."""
    name = mutant.name
    if not find(read(root, mutant.source), mutant):
        print(f"{name}: {mutant.source} must hold exactly once:\n{mutant.old}\n"
              "Where that line was changed, change the mutant in tests/mutants/mutant_table.py with it.")
        return False
    failed = None
    try:
        first = [test for test in watchful if belongs(test, mutant.tests)]
        if first:
            result = run(program, ":".join(first), number)
            failed = FAILED.search(result.stdout)
        if not failed:
            result = run(program, mutant.tests, number)
            failed = FAILED.search(result.stdout)
    except subprocess.TimeoutExpired:
        print(f"{name}: killed, the tests hang")
        return True
    if failed:
        print(f"{name}: killed by {failed.group(1)}")
        if failed.group(1) not in watchful:
            watchful.insert(0, failed.group(1))
    elif re.search(r"^\[  PASSED  \] 0 tests", result.stdout, re.MULTILINE):
        print(f"{name}: {program} has no test {mutant.tests}")
        return False
    elif result.returncode < 0:
        print(f"{name}: killed, the tests end by signal {-result.returncode}")
    else:
        print(f"{name}: survived {mutant.tests}, exit status {result.returncode}:\n{result.stdout}")
        return False
    return True


def fuzz(program, cases):
    """Small cases cannot see what large offsets lose."""
    survivors = []
    for number, mutant in enumerate(MUTANTS):
        operation = next((FUZZED[prefix] for prefix in FUZZED if mutant.name.startswith(prefix)), None)
        if operation is None or mutant.name.endswith("in_32_bits"):
            continue
        command = [program, "--cases", cases, "--shrink-seconds", "0", "--only", operation]
        result = subprocess.run(command, env=environment_of(number), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace", check=False)
        print(f"{mutant.name}:", *result.stdout.strip().splitlines()[:1], flush=True)
        if result.returncode == 0:
            survivors.append(mutant.name)
    print("survived: " + (" ".join(survivors) or "none"))
    return not survivors


def main(arguments):
    if arguments == ["sources"]:
        sources = dict.fromkeys(mutant.source for mutant in MUTANTS)
        if any(source.endswith(".hpp") for source in sources):
            sources.update(dict.fromkeys(HEADER_UNITS))
        print(";".join(sources), end="")
    elif arguments == ["groups"]:
        print(";".join(dict.fromkeys(group_of(mutant) for mutant in MUTANTS if here(mutant))), end="")
    elif arguments[:1] == ["plant"]:
        plant(*arguments[1:])
    elif arguments[:1] == ["fuzz"]:
        return 0 if fuzz(*arguments[1:]) else 1
    elif arguments[:1] == ["check"]:
        return 0 if check(*arguments[1:]) else 1
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
