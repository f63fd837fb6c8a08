#!/usr/bin/env python3
"""The deployment model: edits, declarations, history, through crashes of the controller."""

import json
import os
import unittest

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(HERE, "..", "..", "examples", "site.yaml")


class Model(harness.FleetTest):
    AGENTS = ()

    def muster(self, *arguments, code=0):
        return self.fleet.cli(*arguments, code=code)

    def write(self, name, text):
        path = self.fleet.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_items_are_created_changed_and_removed(self):
        self.muster("model", "create", "/software/items/vim", "-t", "package", "name=vim",
                    "--why", "wanted")
        self.muster("model", "update", "/software/items/vim", "version=9")
        item = json.loads(self.muster("model", "show", "/software/items/vim", "-o", "json").stdout)
        self.assertEqual(item["properties"]["version"], "9")
        self.assertEqual(item["state"], "Initial")
        self.muster("model", "remove", "/software/items/vim")
        gone = self.muster("model", "show", "/software/items/vim", code=1)
        self.assertIn("invalid_location", gone.stderr)
        history = json.loads(self.muster("model", "history", "-o", "json").stdout)["revisions"]
        self.assertEqual([each["what"] for each in history[:3]],
                         ["remove /software/items/vim", "update /software/items/vim",
                          "create /software/items/vim"])
        self.assertEqual(history[2]["why"], "wanted")

    def test_a_site_is_applied_once_and_survives_a_crash(self):
        self.muster("diff", "-f", SITE, "--detailed-exitcode", code=2)
        self.muster("apply", "-f", SITE)
        again = self.muster("apply", "-f", SITE)
        self.assertIn("nothing to change", again.stderr)
        self.fleet.server.crash()
        self.muster("diff", "-f", SITE, "--detailed-exitcode", code=0)

    def test_what_is_exported_declares_the_same(self):
        self.muster("apply", "-f", SITE)
        for kind in ("yaml", "json", "xml"):
            path = self.fleet.path("site." + kind)
            self.muster("export", "--format", kind, "--to", path)
            self.muster("diff", "-f", path, "--prune", "--detailed-exitcode", code=0)

    def test_several_files_are_one_edit(self):
        one = self.write("one.yaml", "software: {items: {a: {type: package, "
                         "properties: {name: a}}}}\n")
        two = self.write("two.yaml", "software: {items: {b: {type: package, "
                         "properties: {name: b}}}}\n")
        self.muster("apply", "--prune", "-f", one, "-f", two)
        for item in ("a", "b"):
            self.muster("model", "show", "/software/items/" + item)
        wrong = self.write("wrong.yaml", "software: {items: {c: {type: pakage}}}\n")
        more = self.write("more.yaml", "software: {items: {d: {type: package, "
                          "properties: {name: d}}}}\n")
        self.muster("apply", "-f", more, "-f", wrong, code=1)
        self.muster("model", "show", "/software/items/d", code=1)

    def test_an_etag_is_shown_and_taken(self):
        self.muster("apply", "-f", SITE)
        shown = json.loads(self.muster("model", "show", "/software/items/web", "-o", "json").stdout)
        for etag in (shown["etag"], '"' + shown["etag"] + '"'):
            self.muster("model", "update", "/software/items/web", "version=1.2", "--dry-run",
                        "--if-match", etag)
        self.muster("model", "update", "/software/items/web", "version=1.2", "--if-match", "other",
                    code=7)

    def test_prune_removes_what_is_no_longer_declared(self):
        self.muster("apply", "-f", SITE)
        smaller = self.write("small.yaml", "software:\n  items:\n    curl: {type: package, "
                             "properties: {name: curl}}\n  profiles: {}\n  services: {}\n")
        refused = self.muster("apply", "-f", smaller)
        self.assertIn("nothing to change", refused.stderr)
        preview = self.muster("diff", "-f", smaller, "--prune")
        self.assertIn("- /software/items/web", preview.stdout)

    def test_a_revision_is_restored(self):
        self.muster("apply", "-f", SITE)
        self.muster("model", "update", "/software/items/web", "version=1.2")
        self.muster("model", "restore", "2", "--why", "does not start")
        item = json.loads(self.muster("model", "show", "/software/items/web", "-o", "json").stdout)
        self.assertNotIn("version", item["properties"])
        diff = self.muster("model", "diff", "3", "4")
        self.assertIn("/software/items/web", diff.stdout)

    def test_all_errors_come_at_once_with_their_lines(self):
        bad = self.write("bad.yaml",
                         "software:\n"
                         "  items:\n"
                         "    a: {type: package, properties: {name: '!', colour: red}}\n"
                         "    b: {type: pakage}\n")
        refused = self.muster("apply", "-f", bad, code=1)
        for expected in ("bad.yaml:3:", "colour", "bad.yaml:4:", "'package'"):
            self.assertIn(expected, refused.stderr)
        tree = self.muster("model", "find", "--type", "package")
        self.assertEqual(tree.stdout, "")

    def test_mistakes_of_a_file_do_not_hide_those_of_the_model(self):
        bad = self.write("bad.yaml",
                         "software:\n"
                         "  items:\n"
                         "    a: {type: package, properties: {name: [a]}}\n"
                         "    b: {type: package, properites: {name: b}}\n"
                         "    c: {type: package, properties: {name: '%%who%%'}}\n"
                         "    d: {type: package, properties: {name: d, colour: red}}\n"
                         "    e: {type: pakage}\n")
        refused = self.muster("apply", "-f", bad, code=64)
        self.assertIn("5 things are wrong", refused.stderr)
        for expected in ("bad.yaml:3:", "bad.yaml:4:", "'properties'", "bad.yaml:5:", "who",
                         "bad.yaml:6:", "colour", "bad.yaml:7:", "'package'"):
            self.assertIn(expected, refused.stderr)
        # What was not understood is not taken for what is not there.
        self.assertNotIn("missing", refused.stderr)
        self.assertEqual(self.muster("model", "find", "--type", "package").stdout, "")

    def test_crossing_edits_are_kept_apart(self):
        self.muster("model", "create", "/software/items/vim", "-t", "package", "name=vim")
        answer = self.fleet.http("GET", "/v1/model/software/items/vim")
        etag = answer.headers["etag"]
        self.muster("model", "update", "/software/items/vim", "version=9")
        body = {"properties": {"version": "10"}}
        stale = self.fleet.http("PATCH", "/v1/model/software/items/vim", body,
                                headers={"If-Match": etag})
        self.assertCode(stale, 412, "revision_mismatch")

    def test_each_rule_of_an_update_has_its_code(self):
        self.muster("apply", "-f", SITE)
        for path, properties, code in (
                ("/software/items/web", {}, "nothing_to_update"),
                ("/software/items/web", {"release": None}, "property_not_set"),
                ("/deployments/site/clusters/db/nodes/a1", {"is_locked": "true"},
                 "read_only_property")):
            refused = self.fleet.http("PATCH", "/v1/model" + path, {"properties": properties})
            self.assertCode(refused, 422, code)

    def test_names_that_stand_twice_are_refused_with_both_items(self):
        self.muster("apply", "-f", SITE)
        self.muster("model", "update", "/ms", "hostname=A1")
        refused = self.muster("plan", code=1)
        for expected in ("/ms", "/nodes/a1", "'hostname'"):
            self.assertIn(expected, refused.stderr)


if __name__ == "__main__":
    unittest.main()
