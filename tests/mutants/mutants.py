"""Mutants: single faults that the tests must see.

    mutants.py sources                          the files that mutants change
    mutants.py groups                           the names of groups of mutants, which are those of mutants up to their dots
    mutants.py plant ROOT SOURCE OUTPUT         SOURCE with all its mutants, each asleep until its run
    mutants.py check ROOT PROGRAM NAME          runs the tests of mutant NAME, or of each of the group NAME; fails if they pass,
                                                or if a test that failed with a mutant also fails without
    mutants.py fuzz PROGRAM CASES               the random driver against each mutant of FUZZED in turn; fails if one is
                                                not seen in so many cases, or if the driver fails without a mutant
    mutants.py record ROOT PROGRAM              finds the quickest test that sees each mutant which seen_by.txt lacks, and
                                                writes them there

A mutant first meets the one test that seen_by.txt names, and all of its tests where that one is not there or passes: so
the file says nothing that must be kept right, but it spares most of the time.

A header's mutants are compiled in the sources of HEADER_UNITS, which find the planted header first.

All mutants of a source are compiled into one object: `old` becomes `planted(number) ? new : old`, and the environment
variable RELAYOUT_MUTANT chooses the number. So old and new are expressions, of one type: where they differ, both are
converted to a common one, without a mutant too. `old` must occur once; runs of white space are equal; @...@ marks what
is replaced where the rest only says which of several places is meant.
"""
import fnmatch
import os
import re
import signal
import subprocess
import sys
import tempfile

from mutant_table import FUZZED, HEADER_UNITS, MUTANTS


SEEN_BY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seen_by.txt")
HANGS_AFTER = 600  # seconds; the tests of a group take far less


def group_of(mutant):
    return mutant.name.partition(".")[0]


def has_avx2():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return re.search(r"^flags\b.*\bavx2\b", file.read(), re.MULTILINE) is not None
    except OSError:
        return False


def here(mutant):
    """Whether this processor runs the mutant's code: that of x86 is for AVX2."""
    return not mutant.x86 or has_avx2()


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


def run(program, test_filter, number=None, fail_fast=True):
    """The exit status, what was printed, and the test that failed or was running when the program ended, if any."""
    command = [os.path.abspath(program), f"--gtest_filter={test_filter}", f"--gtest_fail_fast={int(fail_fast)}"]
    # In a folder of its own, where a program that a fault ends may leave its files.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            status = subprocess.run(command, env=environment_of(number), stdout=output, stderr=subprocess.STDOUT,
                                    timeout=HANGS_AFTER, check=False, cwd=folder).returncode
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        output.seek(0)
        text = output.read()
    failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", text, re.MULTILINE)
    started = re.findall(r"^\[ RUN      \] (\S+)", text, re.MULTILINE)
    return status, text, failed.group(1) if failed else started[-1] if status < 0 and started else None


def belongs(test, test_filter):
    """Whether GoogleTest's filter lets the test run."""
    wanted, _, unwanted = test_filter.partition("-")
    matches = [any(fnmatch.fnmatchcase(test, pattern) for pattern in part.split(":")) for part in (wanted, unwanted)]
    return matches == [True, False]


def check(root, program, name):
    chosen = [(number, mutant) for number, mutant in enumerate(MUTANTS) if name in (mutant.name, group_of(mutant)) and here(mutant)]
    if not chosen:
        print(f"there is no mutant {name}")
    known, seen_by = read_seen_by(), []
    return all([is_seen(root, program, number, mutant, known, seen_by) for number, mutant in chosen]) and bool(chosen) and \
        passes_unchanged(program, seen_by)


def passes_unchanged(program, tests):
    """The tests that saw a mutant pass without one: they failed for its sake."""
    status, output, _ = run(program, ":".join(dict.fromkeys(tests)))
    if status != 0:
        print(f"without a mutant:\n{output}")
    return status == 0


def is_seen(root, program, number, mutant, known, seen_by):
    """known: the test of each mutant by seen_by.txt; the one that sees this mutant is appended to seen_by."""
    name = mutant.name
    if not find(read(root, mutant.source), mutant):
        print(f"{name}: {mutant.source} must hold exactly once:\n{mutant.old}\n"
              "Where that line was changed, change the mutant in tests/mutants/mutant_table.py with it.")
        return False
    first = known.get(name)
    for tests in ([first] if first and belongs(first, mutant.tests) else []) + [mutant.tests]:
        status, output, test = run(program, tests, number)
        if test:
            break
    if not test and re.search(r"^\[  PASSED  \] 0 tests", output, re.MULTILINE):
        print(f"{name}: {program} has no test {mutant.tests}")
        return False
    if not test:
        print(f"{name}: survived {mutant.tests}, exit status {status}:\n{output}")
        return False
    print(f"{name}: killed by {test}" + (f", which ended by signal {-status}" if status < 0 else "") +
          ("" if test == first else "; seen_by.txt does not say so, see mutants.py record"))
    seen_by.append(test)
    return True


def read_seen_by():
    """Mutant -> test."""
    with open(SEEN_BY, encoding="utf-8") as file:
        return dict(line.split() for line in file)


def record(root, program):
    """Writes after each mutant: where this is interrupted, it goes on from there."""
    known = read_seen_by()
    for number, mutant in enumerate(MUTANTS):
        if mutant.name in known or not here(mutant) or not find(read(root, mutant.source), mutant):
            continue
        status, output, test = run(program, mutant.tests, number, fail_fast=False)
        times = re.findall(r"^\[  FAILED  \] ([^\s,]+).*\((\d+) ms\)", output, re.MULTILINE)
        if times:
            test, _ = min(times, key=lambda found: int(found[1]))
        if test:
            known[mutant.name] = test
        print(f"{mutant.name}: {test}", flush=True)
        with open(SEEN_BY, "w", encoding="utf-8") as file:
            file.writelines(f"{other.name} {known[other.name]}\n" for other in MUTANTS if other.name in known)


def fuzz(program, cases):
    """Small cases cannot see what large offsets lose. Seed 3: no mutant takes more than 9940 of its cases, while with
    seed 1 one takes over 20000 on this device."""
    def drive(number, operation, cases):
        command = [program, "--seed", "3", "--cases", cases, "--shrink-seconds", "0", "--only", operation,
                   "--device", "emulated32"]
        return subprocess.run(command, env=environment_of(number), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)

    for operation in dict.fromkeys(FUZZED.values()):  # the driver itself works
        result = drive(None, operation, "1000")
        if result.returncode != 0:
            print(f"without a mutant, exit status {result.returncode}:\n{result.stdout}")
            return False
    survivors = []
    for number, mutant in enumerate(MUTANTS):
        operation = next((FUZZED[prefix] for prefix in FUZZED if mutant.name.startswith(prefix)), None)
        if operation is None or mutant.name.endswith("in_32_bits"):
            continue
        result = drive(number, operation, cases)
        print(f"{mutant.name}:", *result.stdout.strip().splitlines()[:1], flush=True)
        if result.returncode != 1 and result.returncode >= 0:  # neither a wrong result nor a signal
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
    elif arguments[:1] == ["record"]:
        record(*arguments[1:])
    elif arguments[:1] == ["check"]:
        return 0 if check(*arguments[1:]) else 1
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
