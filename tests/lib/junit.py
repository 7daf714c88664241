"""Reads a JUnit report. `passed FILE` prints how many tests passed, `failed FILE` the names of the others.

Skipped tests are neither.
"""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case: ElementTree.Element) -> str:
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"


def main() -> int:
    wanted, path = sys.argv[1:3]
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no readable report at {path}: {error}", file=sys.stderr)
        return 1
    # A test that fails and whose teardown fails too stands twice in the report.
    chosen = {f"{case.get('classname')}::{case.get('name')}" for case in cases if outcome(case) == wanted}
    if wanted == "passed":
        print(len(chosen))
    else:
        print("\n".join(sorted(chosen)), end="\n" if chosen else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
