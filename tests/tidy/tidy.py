#!/usr/bin/env python3
"""Checks the house rules that a look at the text can check.

Usage: tidy.py [ROOT]

Prints each offence as `file:line: rule: text`; exits 1 if there is any. The compiler, the linker,
clang-format and clang-tidy check the rest. tidy_test.py proves that each rule can fail.
"""

import os
import re
import stat
import subprocess
import sys
from collections import namedtuple

import cxx

Offence = namedtuple("Offence", "path line rule text")

# What each folder of src/ may include besides itself. The folders that do no I/O come first.
LAYERS = {
    "base": set(),
    "model": {"base"},
    "plan": {"base", "model"},
    "core": {"base", "model", "plan"},
    "os": {"base"},
    "crypto": {"base"},
    "document": {"base", "model"},
    "pack": {"base", "document", "model", "plan"},
    "sitefile": {"base", "document", "model", "os"},
    "log": {"base"},
    "store": {"base", "core", "log", "model", "os", "plan"},
    "rpc": {"base", "core", "log", "os"},
    "http": {"base", "core", "log", "os"},
    "exec": {"base", "core", "crypto", "log", "os"},
    "plugin": {"base", "document", "log", "model", "os", "pack", "plan"},
    "sim": {"agent", "base", "core", "exec", "log", "model", "plan", "rpc", "store"},
    "controller": {"base", "core", "crypto", "document", "exec", "http", "log", "model", "os",
                   "pack", "plan", "plugin", "rpc", "sitefile", "store"},
    "agent": {"base", "core", "crypto", "exec", "http", "log", "os", "rpc", "store"},
    "bench": {"base", "core", "http", "log", "model", "os", "pack", "plan", "plugin", "rpc",
              "sitefile", "store"},
    "cli": {"agent", "base", "bench", "controller", "core", "crypto", "document", "exec", "http",
            "log", "model", "os", "pack", "plan", "plugin", "rpc", "sim", "sitefile", "store"},
}
PURE = ("base", "model", "plan", "core")

LINE_MAX = 100
FILE_LINES_MAX = 700
TEST_LINES_MAX = 1000  # a table of cases reads better in one piece
BLOB_BYTES_MAX = 512 * 1024

IMPURE_INCLUDE = re.compile(
    r"^(?:thread|mutex|shared_mutex|chrono|random|fstream|iostream|ostream|istream|syncstream|"
    r"condition_variable|atomic|filesystem|future|semaphore|latch|barrier|stop_token|cstdio|"
    r"stdio\.h|ctime|time\.h|csignal|signal\.h|unistd\.h|pthread\.h|fcntl\.h|poll\.h|netdb\.h|"
    r"sqlite3\.h|(?:sys|arpa|netinet|boost|grpc|grpcpp|google|curl|spdlog|openssl)/.*)$")
IMPURE_CODE = re.compile(
    r"std::chrono|std::this_thread|std::random_device|std::mt19937|std::c(?:out|err|in|log)\b|"
    r"\bthread_local\b|fmt::print\b|"
    r"(?<![\w.>:])(?:std::|::)?(?:s?rand|rand_r|[dl]rand48|getenv|secure_getenv|setenv|fopen|"
    r"fwrite|fputs|fprintf|printf|puts|putchar|gettimeofday|clock_gettime|localtime|gmtime|"
    r"getpid)\s*\(|"
    r"(?<![\w.>:])(?:std::|::)?time\s*\(\s*(?:NULL|nullptr|0|&)")
# The last words of a program that must abort may go to stderr.
PURITY_EXEMPT = {"src/base/check.cc"}

SLEEP_CXX = re.compile(
    r"std::this_thread::sleep_(?:for|until)|(?<![\w.>:])(?:std::|::)?"
    r"(?:sleep|usleep|nanosleep|clock_nanosleep)\s*\(")
SLEEP_PYTHON = re.compile(r"\btime\.sleep\s*\(|\bfrom time import\b.*\bsleep\b")
# A child between fork and exec has nothing to wait with, a command that asks again only has the
# clock, and another process is watched by looking again, in one place, with a deadline.
SLEEP_ALLOWED = re.compile(r"^src/exec/[^/]*(?:child|runner|spawner)[^/]*\.cc$|"
                           r"^src/cli/context\.cc$|^src/agent/agent_main_test\.cc$|"
                           r"^tests/e2e/(?:harness|processes)\.py$")
BANNED_CALLS = (
    (re.compile(r"(?<![\w.>:])(?:std::|::)?(?:system|popen)\s*\("), "start programs through exec/"),
    (re.compile(r"(?<![\w.>:])(?:std::|::)?(?:strcpy|strcat|v?sprintf|gets)\s*\("), "use fmt"),
    (re.compile(r"(?<![\w.>:_])assert\s*\("), "use MUSTER_CHECK, which stays on"),
    (re.compile(r"\busing\s+namespace\s+std\b"), "name what is used"),
)

LEFTOVER = re.compile(r"\b(?:FIXME|XXX|HACK|TODO)\b")
SQL = re.compile(
    r"\bSELECT\s+[\w*(]|\bINSERT\s+(?:OR\s+\w+\s+)?INTO\b|\bREPLACE\s+INTO\b|\bDELETE\s+FROM\b|"
    r"\bUPDATE\s+\w+\s+SET\b|\bPRAGMA\s+\w|\b(?:CREATE|DROP|ALTER)\s+TABLE\b")
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home)/")
REGISTRY_HOST = re.compile(
    r"\b(?:registry|registries|mirrors?|proxy|nexus|artifactory|pypi|npm|deb|packages|ghcr|quay|"
    r"docker|hub|files)\.(?:[\w-]+\.)*(?:com|org|net|io|dev|local|internal|lan|corp|cloud)\b")
GENERATED = re.compile(
    r"\.pb\.(?:cc|h)$|\.pyc$|\.o$|\.a$|^build/|(?:^|/)__pycache__/|"
    r"(?:^|/)(?:compile_commands\.json|CMakeCache\.txt|build\.ninja)$")

CXX = (".cc", ".h")
# Where text of people and programs is held to the rules of layout.
SOURCE = CXX + (".py", ".cmake", ".proto")
TEXT = SOURCE + (".md", ".yaml", ".yml", ".json", ".txt", ".service", ".toml", ".html", ".css",
                 ".ts")


class Tree:
    """The files of a source tree, read once."""

    def __init__(self, root):
        self.root = root
        self.paths = sorted(self._list())
        self._texts = {}

    def _list(self):
        if os.path.exists(os.path.join(self.root, ".git")):
            command = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                       "--exclude-standard"]
            names = subprocess.run(command, check=True, capture_output=True).stdout.split(b"\0")
            for path in sorted({os.fsdecode(name) for name in names if name}):
                if os.path.lexists(self.full(path)):  # not one that is deleted but still staged
                    yield path
            return
        for folder, _, files in os.walk(self.root):
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def full(self, path):
        return os.path.join(self.root, path)

    def is_text(self, path):
        return self.text(path) is not None

    def text(self, path):
        """The content, or None of what is not UTF-8 text."""
        if path not in self._texts:
            self._texts[path] = None
            if os.path.isfile(self.full(path)) and not os.path.islink(self.full(path)):
                with open(self.full(path), "rb") as file:
                    data = file.read()
                if b"\0" not in data:
                    try:
                        self._texts[path] = data.decode("utf-8")
                    except UnicodeDecodeError:
                        pass
        return self._texts[path]

    def lines(self, path):
        return enumerate(self.text(path).split("\n"), 1)

    def code(self, path, keep_strings=False):
        return enumerate(cxx.strip(self.text(path), keep_strings).split("\n"), 1)

    def texts(self, *suffixes):
        for path in self.paths:
            if (not suffixes or path.endswith(suffixes)) and self.is_text(path):
                yield path

    def is_script(self, path):
        return self.is_text(path) and self.text(path).startswith("#!")

    def layout_texts(self):
        """Sources, documents and scripts; not data, whose layout is its own."""
        for path in self.texts():
            if path.endswith(TEXT) or self.is_script(path):
                yield path


def folder_of(path):
    """The folder of src/ that a path stands in, or None."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "src" else None


def is_test(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem.endswith(("_test", "_fuzz", "_bench")) or "test_util" in stem or \
        "/testing/" in path or path.startswith("tests/")


def includes(tree, path):
    for number, line in tree.lines(path):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(2), found.group(1) == '"'


def check_purity(tree):
    """base, model, plan and core have no clock, randomness, threads or I/O."""
    for path in tree.texts(*CXX):
        if folder_of(path) not in PURE or is_test(path) or path in PURITY_EXEMPT:
            continue
        for number, name, _ in includes(tree, path):
            if IMPURE_INCLUDE.match(name):
                yield path, number, f"<{name}> has no place in code without I/O, clock or threads"
        for number, line in tree.code(path):
            found = IMPURE_CODE.search(line)
            if found:
                yield path, number, f"'{found.group().strip()}' is not a function of the inputs"


def check_layering(tree):
    """A folder includes only folders below it."""
    for path in tree.texts(*CXX):
        folder = folder_of(path)
        if folder is None:
            continue
        if folder not in LAYERS:
            yield path, 1, f"src/{folder} has no place in the layers of tests/tidy/tidy.py"
            continue
        for number, name, quoted in includes(tree, path):
            target = name.split("/")[0]
            known = quoted and "/" in name and target in LAYERS
            if known and target != folder and target not in LAYERS[folder]:
                allowed = ", ".join(sorted(LAYERS[folder])) or "nothing"
                yield path, number, f"src/{folder} may not include {name}; it may include {allowed}"


def check_line_length(tree):
    for path in tree.texts():
        if not (path.endswith(SOURCE + ("CMakeLists.txt",)) or tree.is_script(path)):
            continue
        for number, line in tree.lines(path):
            if len(line) > LINE_MAX:
                yield path, number, f"has {len(line)} characters, at most {LINE_MAX} are allowed"


def check_file_length(tree):
    for path in tree.texts(*CXX, ".py"):
        count = tree.text(path).count("\n")
        most = TEST_LINES_MAX if is_test(path) else FILE_LINES_MAX
        if count > most:
            yield path, count, f"the file has {count} lines, at most {most} are allowed"


def check_leftover(tree):
    for path in tree.layout_texts():
        if path.startswith("tests/tidy/"):
            continue
        for number, line in tree.lines(path):
            found = LEFTOVER.search(line)
            if found:
                yield path, number, f"'{found.group()}' marks unfinished work; finish it"


def check_tabs(tree):
    for path in tree.layout_texts():
        for number, line in tree.lines(path):
            if "\t" in line:
                yield path, number, "a tab; indent with spaces"


def check_trailing_space(tree):
    for path in tree.layout_texts():
        for number, line in tree.lines(path):
            if line != line.rstrip():
                yield path, number, "white space at the end of the line"


def check_pragma_once(tree):
    for path in tree.texts(".h"):
        if not re.search(r"^#pragma once$", tree.text(path), re.MULTILINE):
            yield path, 1, "a header without #pragma once"


class Registered:
    """The files that the CMake files name, and in which of our functions they stand."""

    def __init__(self, tree):
        self.files = set()
        self.by_function = {"muster_test": set(), "muster_fuzz": set()}
        self.words = {}  # the plain words of each CMake file, for what is not a source
        for path in tree.texts("CMakeLists.txt", ".cmake"):
            text = re.sub(r"#[^\n]*", "", tree.text(path))
            folder = os.path.dirname(path)
            self.words[path] = set(re.findall(r"[\w./-]+", text))
            self.files |= self._resolve(folder, text)
            for name, files in self.by_function.items():
                for call in re.findall(name + r"\s*\(([^()]*)\)", text):
                    files |= self._resolve(folder, call)

    @staticmethod
    def _resolve(folder, text):
        found = set()
        for name in re.findall(r"[\w./${}-]+\.cc\b", text):
            if name.startswith("${CMAKE_SOURCE_DIR}/"):
                name = name.split("}/", 1)[1]
            else:
                name = os.path.join(folder, name.replace("${CMAKE_CURRENT_SOURCE_DIR}/", ""))
            if "$" not in name:
                found.add(os.path.normpath(name))
        return found


def check_registered(tree):
    """No file is dead, and no test is forgotten."""
    registered = Registered(tree)
    for path in tree.texts(".cc"):
        if path not in registered.files:
            yield path, 1, "stands in no CMakeLists.txt"
        elif path.endswith("_test.cc") and path not in registered.by_function["muster_test"]:
            yield path, 1, "a test that no muster_test() runs"
        elif path.endswith("_fuzz.cc") and path not in registered.by_function["muster_fuzz"]:
            yield path, 1, "a fuzz target that no muster_fuzz() runs"
    for path in tree.texts(".py"):
        name = os.path.basename(path)
        if path.startswith("tests/") and (name.startswith("test_") or name.endswith("_test.py")):
            words = set().union(*registered.words.values()) if registered.words else set()
            if not any(word == name[:-3] or word.endswith(name) for word in words):
                yield path, 1, "a test that tests/CMakeLists.txt does not run"


def check_banned_calls(tree):
    for path in tree.texts(*CXX, ".py"):
        if path.startswith("tests/tidy/"):
            continue
        if path.endswith(".py"):
            lines, sleep, calls = tree.lines(path), SLEEP_PYTHON, ()
        else:
            lines, sleep = tree.code(path), SLEEP_CXX
            calls = () if is_test(path) else BANNED_CALLS
        for number, line in lines:
            if not SLEEP_ALLOWED.match(path) and sleep.search(line):
                yield path, number, "sleeping; wait for the condition, with a deadline"
            for pattern, right in calls:
                found = pattern.search(line)
                if found:
                    yield path, number, f"'{found.group().strip()}' is banned; {right}"


def check_machine_paths(tree):
    for path in tree.texts():
        if path.startswith("tests/tidy/"):
            continue
        for number, line in tree.lines(path):
            found = MACHINE_PATH.search(line) or REGISTRY_HOST.search(line)
            if found:
                yield path, number, f"'{found.group()}' belongs to one machine or network"


def check_blobs(tree):
    for path in tree.paths:
        size = os.lstat(tree.full(path)).st_size
        if size > BLOB_BYTES_MAX:
            yield path, 1, f"the file has {size} bytes, at most {BLOB_BYTES_MAX} are allowed"


def check_sql(tree):
    for path in tree.texts(*CXX):
        if folder_of(path) in (None, "store"):
            continue
        for number, line in tree.code(path, keep_strings=True):
            found = SQL.search(line)
            if found:
                yield path, number, f"'{found.group()}': SQL belongs into src/store"


def check_generated(tree):
    for path in tree.paths:
        if GENERATED.search(path):
            yield path, 1, "generated files are made by the build, not committed"


def check_executable(tree):
    for path in tree.texts():
        executable = bool(os.stat(tree.full(path)).st_mode & stat.S_IXUSR)
        if executable != tree.is_script(path):
            yield path, 1, ("is executable, but has no #! line" if executable
                            else "has a #! line, but is not executable")


RULES = {
    "purity": check_purity,
    "layering": check_layering,
    "line-length": check_line_length,
    "file-length": check_file_length,
    "leftover": check_leftover,
    "tab": check_tabs,
    "trailing-space": check_trailing_space,
    "pragma-once": check_pragma_once,
    "registered": check_registered,
    "banned-call": check_banned_calls,
    "machine-path": check_machine_paths,
    "blob": check_blobs,
    "sql": check_sql,
    "generated": check_generated,
    "executable": check_executable,
}


def check(root):
    """All offences of the tree at `root`, in the order of files and lines."""
    tree = Tree(root)
    offences = [Offence(path, line, rule, text)
                for rule, function in RULES.items() for path, line, text in function(tree)]
    return sorted(offences)


def main(arguments):
    if len(arguments) > 1:
        print("usage: tidy.py [ROOT]", file=sys.stderr)
        return 64
    here = os.path.dirname(os.path.abspath(__file__))
    offences = check(arguments[0] if arguments else os.path.join(here, "..", ".."))
    for offence in offences:
        print(f"{offence.path}:{offence.line}: {offence.rule}: {offence.text}")
    print(f"{len(offences)} offences against {len(RULES)} rules", file=sys.stderr)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
