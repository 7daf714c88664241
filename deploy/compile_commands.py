"""Turns `bazel aquery --output=jsonproto` into a compilation database on standard output."""

import json
import sys

# Sources that are compiled; generated assembly is none of a C++ tool's business.
SUFFIXES = (".cc", ".cpp", ".c")

# Module maps lie in Bazel's own folders, where other tools do not find them.
MODULE_FLAGS = ("-fmodule", "-Wprivate-header")


def command(action: dict, root: str) -> dict | None:
    arguments = action["arguments"]
    if "-c" not in arguments:
        return None
    source = arguments[arguments.index("-c") + 1]
    if not source.endswith(SUFFIXES) or source.startswith("external/"):
        return None
    kept = [argument for argument in arguments if not argument.startswith(MODULE_FLAGS)]
    return {"directory": root, "file": source, "arguments": kept}


def main() -> int:
    path, root = sys.argv[1:3]
    with open(path, encoding="utf-8") as stream:
        actions = json.load(stream).get("actions", [])
    commands = {}
    for action in actions:
        entry = command(action, root)
        if entry:
            commands[entry["file"]] = entry
    if not commands:
        print("compile_commands: bazel lists no compile action", file=sys.stderr)
        return 1
    json.dump([commands[file] for file in sorted(commands)], sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
