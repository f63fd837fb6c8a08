#!/usr/bin/env python3
"""Proves that each rule of tidy.py passes a good tree and fails a bad one."""

import os
import subprocess
import sys
import tempfile
import unittest

import cxx
import tidy

GOOD = {
    "src/base/time.h": "#pragma once\n#include <cstdint>\n",
    "src/base/time.cc": '#include "base/time.h"\n// sleep(1), std::cout << "\\tSELECT 1";\n',
    "src/base/time_test.cc": '#include <thread>\n#include "base/time.h"\n',
    "src/core/engine.cc": '#include "base/time.h"\nint jitter(int random) { return random; }\n'
                          "int decode_sleep(int n) { return n; }\n",
    "src/store/sqlite.cc": '#include "core/engine.h"\nauto q = "SELECT a FROM b";\n'
                           "namespace {\nconstexpr int kMax = 1;\nint half(int a) {\n}\n"
                           "struct Row {};\n}  // namespace\n",
    "src/store/record_fuzz.cc": "int x = 1'000;\n",
    "src/exec/run_child.cc": "void f() { nanosleep(nullptr, nullptr); }\n",
    "src/CMakeLists.txt": "muster_library(NAME a SRCS base/time.cc core/engine.cc\n"
                          "  store/sqlite.cc exec/run_child.cc)\n"
                          "muster_test(NAME t SRCS base/time_test.cc)\n"
                          "muster_fuzz(NAME f\n"
                          "  SRCS ${CMAKE_CURRENT_SOURCE_DIR}/store/record_fuzz.cc)\n",
    "tests/e2e/harness.py": "import time\ntime.sleep(0.01)\n",
    "tests/e2e/test_one.py": "import harness\n",
    "tests/CMakeLists.txt": "e2e(test_one)\n",
    "Makefile": "all:\n\techo\n",
    "scripts/run": "#!/bin/sh\ntrue\n",
    "data/blob.bin": b"\0\t \n" * 10,
}

# rule -> [(path, content, line of the offence)]
BAD = {
    "purity": [
        ("src/core/engine.cc", "#include <thread>\n", 1),
        ("src/core/a/b.h", "#pragma once\n#include <sys/stat.h>\n", 2),
        ("src/base/time.cc", "\nauto now = std::chrono::system_clock::now();\n", 2),
        ("src/base/time.cc", "int x = rand();\n", 1),
        ("src/base/time.cc", "int x = ::getenv(\"A\") != nullptr;\n", 1),
        ("src/model/item.h", "#pragma once\nauto t = time(nullptr);\n", 2),
        ("src/plan/plan.h", "#pragma once\n#include <fstream>\n", 2),
        ("src/core/engine.cc", 'void f() { std::printf("x"); }\n', 1),
    ],
    "layering": [
        ("src/core/engine.cc", '#include "store/store.h"\n', 1),
        ("src/base/time.cc", '#include "core/engine.h"\n', 1),
        ("src/http/a.h", '#pragma once\n#include "store/store.h"\n', 2),
        ("src/exec/a.h", '#pragma once\n#include "rpc/link.h"\n', 2),
        ("src/store/a.h", '#pragma once\n#include "controller/controller.h"\n', 2),
        ("src/agent/a.h", '#pragma once\n#include "controller/controller.h"\n', 2),
        ("src/elsewhere/a.h", "#pragma once\n", 1),
    ],
    "line-length": [
        ("src/base/time.cc", "int a;\n// " + "x" * 98 + "\n", 2),
        ("scripts/run", "#!/bin/sh\n" + "x" * 101 + "\n", 2),
    ],
    "file-length": [
        ("src/base/time.cc", "\n" * 701, 701),
        ("src/base/time_test.cc", "\n" * 1001, 1001),
    ],
    "leftover": [
        ("src/base/time.cc", "// TODO: later\n", 1),
        ("docs/a.md", "x\nFIXME\n", 2),
        ("scripts/run", "#!/bin/sh\n# HACK\n", 2),
    ],
    "tab": [("src/base/time.cc", "\tint a;\n", 1)],
    "trailing-space": [("docs/a.md", "a \n", 1), ("src/base/time.cc", "int a;\n   \n", 2)],
    "pragma-once": [("src/base/time.h", "// #pragma once is missing\n", 1)],
    "registered": [
        ("src/base/dead.cc", "", 1),
        ("src/base/dead_test.cc", "", 1),
        ("src/CMakeLists.txt", GOOD["src/CMakeLists.txt"].replace("muster_test", "other"), 1,
         "src/base/time_test.cc"),
        ("src/CMakeLists.txt", GOOD["src/CMakeLists.txt"].replace("muster_fuzz", "other"), 1,
         "src/store/record_fuzz.cc"),
        ("src/CMakeLists.txt", GOOD["src/CMakeLists.txt"].replace("base/time.cc", "# a.cc\n"), 1,
         "src/base/time.cc"),
        ("tests/e2e/test_two.py", "", 1),
    ],
    "banned-call": [
        ("src/store/sqlite.cc", "void f() { usleep(5); }\n", 1),
        ("src/exec/executor.cc", "void f() { ::sleep(5); }\n", 1),
        ("src/base/time_test.cc", "void f() { std::this_thread::sleep_for(1s); }\n", 1),
        ("tests/e2e/test_one.py", "import time\ntime.sleep(1)\n", 2),
        ("src/store/sqlite.cc", "void f() { system(\"ls\"); }\n", 1),
        ("src/store/sqlite.cc", "void f() { assert(true); }\n", 1),
    ],
    "machine-path": [
        ("docs/a.md", "see /home/alice/x\n", 1),
        ("src/store/sqlite.cc", 'auto p = "/work/a";\n', 1),
        ("scripts/run", "#!/bin/sh\ncurl https://registry.example.internal/x\n", 2),
    ],
    "blob": [("data/blob.bin", b"\0" * (513 * 1024), 1)],
    "sql": [
        ("src/core/engine.cc", 'auto q = "SELECT a FROM b";\n', 1),
        ("src/agent/a.h", '#pragma once\nauto q = "UPDATE t SET a = 1";\n', 2),
        ("src/agent/a.h", '#pragma once\nauto q = R"(\nPRAGMA journal_mode\n)";\n', 3),
    ],
    "distinct": [
        ("src/store/sqlite_row.cc", "namespace {\nconstexpr long kMax = 2;\n}  // namespace\n", 2),
        ("src/store/sqlite_row.cc", "namespace {\nint half(int a) {\n}  // namespace\n", 2),
        ("src/store/sqlite_row.cc", "\nnamespace {\nclass Row {\n};\n}  // namespace\n", 3),
    ],
    "generated": [("api/agent.pb.h", "#pragma once\n", 1)],
    "executable": [("src/base/time.h", "#!/bin/sh\n#pragma once\n", 1)],
}


class Rules(unittest.TestCase):
    def check(self, changes):
        files = dict(GOOD, **changes)
        with tempfile.TemporaryDirectory() as root:
            for path, content in files.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "wb") as file:
                    file.write(content if isinstance(content, bytes) else content.encode())
                os.chmod(full, 0o755 if path.startswith("scripts/") else 0o644)
            return tidy.check(root)

    def test_a_good_tree_passes(self):
        self.assertEqual(self.check({}), [])

    def test_names_may_be_alike_where_they_do_not_meet(self):
        own = "namespace {\nconstexpr int kMax = 1;\n}  // namespace\n"
        overload = "namespace {\nint half(long a) {\n}  // namespace\n"
        for path, text in (("src/exec/a.cc", own), ("src/store/a_test.cc", own),
                           ("src/store/a.cc", overload), ("src/store/a.cc", "struct Row {};\n")):
            with self.subTest(path=path, text=text):
                found = [o for o in self.check({path: text}) if o.rule == "distinct"]
                self.assertEqual(found, [])

    def test_every_rule_has_a_case(self):
        self.assertEqual(set(BAD), set(tidy.RULES))

    def test_every_rule_can_fail(self):
        for rule, cases in BAD.items():
            for path, content, line, *elsewhere in cases:
                with self.subTest(rule=rule, path=path, content=content[:60]):
                    found = [o for o in self.check({path: content}) if o.rule == rule]
                    where = elsewhere[0] if elsewhere else path
                    self.assertEqual([(o.path, o.line) for o in found], [(where, line)], found)

    def test_a_script_must_be_executable(self):
        offences = self.check({"tools/x": "#!/bin/sh\n"})
        self.assertEqual([(o.path, o.rule) for o in offences], [("tools/x", "executable")])

    def test_ignored_files_are_not_looked_at(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for name, content in ((".gitignore", "/build/\n"), ("a.md", "b \n")):
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(content)
            os.mkdir(os.path.join(root, "build"))
            with open(os.path.join(root, "build", "x.md"), "w", encoding="utf-8") as file:
                file.write("c \n")
            self.assertEqual([o.path for o in tidy.check(root)], ["a.md"])

    def test_the_program_exits_with_its_verdict(self):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tidy.py")
        with tempfile.TemporaryDirectory() as root:
            command = [sys.executable, program, root]
            clean = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual((clean.returncode, clean.stdout), (0, b""))
            with open(os.path.join(root, "a.md"), "w", encoding="utf-8") as file:
                file.write("b \n")
            bad = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(bad.returncode, 1)
            self.assertIn(b"a.md:1: trailing-space: ", bad.stdout)


class Stripping(unittest.TestCase):
    def test_comments_and_strings_are_blanked_and_lines_kept(self):
        text = 'a("x\\"y"); // b\n/* c\n d */ e(\'"\'); R"z(f\n)" )z" g 1\'000 "h'
        plain = cxx.strip(text, keep_strings=False)
        self.assertEqual(plain.count("\n"), text.count("\n"))
        self.assertEqual("".join(plain.split()), "a();e();g1'000")
        kept = cxx.strip(text, keep_strings=True)
        self.assertIn('R"z(f\n)" )z"', kept)
        self.assertNotIn("// b", kept)


if __name__ == "__main__":
    unittest.main()
