"""`python -m tests.mutants [--survivors] [FILE ...]`: run each mutant against its file's tests; write tests/mutants.md.

The last results are kept in build/mutants, so that files can be run one at a time; `--survivors` runs again only what
no test noticed the last time. Mutants are made in a copy of the project, build/mutants/copy.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.mutants.changes import Mutant, mutants_of
from tests.mutants.copying import copied, run_in
from tests.mutants.files import LIBRARY, files, how_many, relevant_tests, sample
from tests.mutants.report import result_name, sorted_out, write_report
from tests.mutants.running import Trace, fails, prepare, trace, version_of

RESULTS = Path("build/mutants")
REPORT = Path("tests/mutants.md")
# Seconds of the CPU. Tests that take longer train a model to the end, or start boxes. What only trainings notice has no
# test that names it; boxes are tried when no quick test noticed.
SLOW = 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="of shared/ and checker/")
    parser.add_argument("--survivors", action="store_true", help="run again what survived, and what is new")
    parser.add_argument("--sample", type=int, metavar="N", help="so many drawn mutants of a file")
    parser.add_argument("--kept", type=Path, default=RESULTS.resolve(), help=argparse.SUPPRESS)
    parser.add_argument("--commit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.files) - set(files()):
        parser.error(f"{' '.join(sorted(unknown))}: not among the files of shared/ and checker/ that are changed")
    if options.commit is None:
        copy = RESULTS / "copy"
        copied(copy)
        kept = ["--kept", str(options.kept), "--commit", head()]
        status = run_in(copy, "tests.mutants", *sys.argv[1:], *kept)
        write_report(RESULTS, files(), REPORT)
        sys.exit(status)
    prepare()
    for name in options.files or files():
        run(name, options)


def head() -> str:
    """The commit that the project is at, in short."""
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(name: str, options: argparse.Namespace) -> None:
    """The mutants of one file; the verdicts are kept after each test file, and go into the table when all are there.

    Its test files take their turn: most mutants are caught by the first, and the others are not even imported for them.
    """
    started = time.perf_counter()
    file = Path(name)
    result = options.kept / result_name(name)
    known = json.loads(result.read_text())["caught"] if options.survivors and result.exists() else {}
    mutants = numbered(mutants_of(file.read_text(encoding="utf-8")))
    size = options.sample or how_many(name)
    caught = {label: known.get(label, False) for label in sample(mutants, size, name)}

    def keep(finished: bool) -> None:
        """Write what is known so far: `--survivors` goes on with it where a run was broken off."""
        about = {"version": version_of(file), "of": len(mutants), "commit": options.commit}
        about |= {"date": datetime.now(UTC).date().isoformat(), "finished": finished}
        result.write_text(json.dumps(about | {"caught": caught}, indent=1))

    # What was silent before, with its reason, stays silent.
    passed_over = sorted_out(name, [label for label in known if not known[label]])[1]
    traces = {test_file: trace(file, test_file, options.kept / "traces") for test_file in relevant_tests(name)}
    for test in dict.fromkeys(test for traced in traces.values() for test in traced.failing):
        print("left out, for it is skipped or fails as it is:", test, flush=True)
    for traced, is_slow in turns(traces.values(), with_slow=not LIBRARY.match(name)):
        for label in caught:
            if caught[label] or label in passed_over:
                continue
            tests = tests_of(mutants[label], traced, traces.values(), is_slow)
            if tests:
                seconds = {test: traced.seconds[test] for test in sorted(tests, key=traced.seconds.get)}
                caught[label] = fails(file, mutants[label].source, seconds, tries=1 + is_slow)
        keep(finished=False)
    for label in caught:
        if not caught[label]:
            print("survived:", label, flush=True)
    keep(finished=True)
    spent = time.perf_counter() - started
    print(f"{name}: {sum(caught.values())} of {len(caught)} caught in {spent:.0f} s", flush=True)


def turns(traces: Iterable[Trace], with_slow: bool) -> Iterator[tuple[Trace, bool]]:
    """The quick tests of each test file; then the slow ones, where they are asked for."""
    for is_slow in (False, True)[: 1 + with_slow]:
        for traced in traces:
            yield traced, is_slow


def tests_of(mutant: Mutant, traced: Trace, traces: Iterable[Trace], is_slow: bool) -> set[str]:
    """The tests of a test file that run the mutant's function, those that are quick or those that are slow.

    All of them for a function that only processes run which are not traced; all quick ones for what stands outside of
    functions.
    """
    if not mutant.lines:
        found = set() if is_slow else set(traced.seconds)
    elif any(one.tests_of(mutant.lines) for one in traces):
        found = traced.tests_of(mutant.lines)
    else:
        found = set(traced.seconds)
    return {test for test in found if (traced.seconds[test] >= SLOW) == is_slow}


def numbered(mutants: Iterator[Mutant]) -> dict[str, Mutant]:
    """Each mutant by its label, with a number behind where several changes of a line look alike."""
    labels = {}
    for mutant in mutants:
        label = str(mutant)
        number = 1
        while label in labels:
            number += 1
            label = f"{mutant} ({number})"
        labels[label] = mutant
    return labels


if __name__ == "__main__":
    main()
