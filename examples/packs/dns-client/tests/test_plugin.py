"""The plugin of the dns-client pack, called over its protocol without a process."""

import importlib.machinery
import importlib.util
import os
import unittest

from muster_plugin.testing import FakeModel, Harness

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bin", "plugin")


def load():
    loader = importlib.machinery.SourceFileLoader("dns_plugin", PROGRAM)
    spec = importlib.util.spec_from_loader("dns_plugin", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module.DnsClientPlugin


def item_type(name, properties=(), extends="", elements=()):
    document = {"id": name, "properties": {key: {} for key in properties}, "views": {},
                "elements": {key: {"kind": "collection", "type": "root"} for key in elements}}
    return {**document, "extends": extends} if extends else document


TYPES = [item_type("root"), item_type("ms"), item_type("node"), item_type("node-config"),
         item_type("dns-client", ["search"], "node-config", ["nameservers"]),
         item_type("nameserver", ["ipaddress", "position"])]


def many(kind, **members):
    return {"class": "collection", "type": kind, **members}


def server(address, position, state="Initial"):
    return {"type": "nameserver", "state": state,
            "properties": {"ipaddress": address, "position": position}}


def client(state="Initial", search=None, **servers):
    properties = {"search": search} if search else {}
    return {"type": "dns-client", "state": state, "properties": properties,
            "nameservers": many("nameserver", **servers)}


def model(state="Initial", **clients):
    return FakeModel(TYPES, {"ms": {"type": "ms"}, "nodes": many("node", n1={
        "type": "node", "state": state, "configs": many("node-config", **clients)})})


class DnsClient(unittest.TestCase):
    def setUp(self):
        self.plugin = load()

    def tasks(self, fake):
        return Harness(self.plugin, fake, "dns-client").create_configuration()

    def errors(self, fake):
        return Harness(self.plugin, fake, "dns-client").validate_model()

    def check(self, value):
        answer = Harness(self.plugin, model(), "dns-client").call(
            "check", checks=[{"method": "check_search", "path": "/", "value": value}])
        return answer["problems"][0]

    def test_one_task_for_the_client_and_its_servers(self):
        tasks = self.tasks(model(dns=client(search="a.org,b.org", two=server("192.0.2.2", "1"),
                                            one=server("192.0.2.1", "2"))))
        self.assertEqual(len(tasks), 1)
        self.assertEqual(tasks[0]["attributes"]["content"],
                         "search a.org b.org\nnameserver 192.0.2.2\nnameserver 192.0.2.1\n")
        self.assertEqual(tasks[0]["item"], "/nodes/n1/configs/dns")
        self.assertEqual([path.rsplit("/", 1)[1] for path in tasks[0]["model_items"]],
                         ["nameservers", "one", "two"])

    def test_nothing_changed_is_nothing_to_do(self):
        self.assertEqual(self.tasks(model(dns=client("Applied", one=server("1", "1", "Applied")))),
                         [])

    def test_a_change_below_is_a_change_of_the_client(self):
        for state in ("Initial", "Updated", "ForRemoval"):
            tasks = self.tasks(model(dns=client("Applied", one=server("192.0.2.1", "1", "Applied"),
                                                two=server("192.0.2.2", "2", state))))
            self.assertEqual(len(tasks), 1, state)
            self.assertEqual("192.0.2.2" in tasks[0]["attributes"]["content"],
                             state != "ForRemoval")

    def test_removal(self):
        tasks = self.tasks(model(dns=client("ForRemoval", one=server("1", "1", "ForRemoval"))))
        self.assertEqual(tasks[0]["attributes"], {"ensure": "absent"})
        self.assertEqual(self.tasks(model("ForRemoval", dns=client("ForRemoval"))), [])

    def test_one_client_a_node(self):
        errors = self.errors(model(a=client(), b=client(), c=client("ForRemoval")))
        self.assertEqual([error["path"] for error in errors], ["/nodes/n1/configs/b"])

    def test_positions_are_unique_but_for_what_goes(self):
        errors = self.errors(model(dns=client(one=server("1", "1"), two=server("2", "1"),
                                              three=server("3", "1", "ForRemoval"))))
        self.assertEqual([(error["path"].rsplit("/", 1)[1], error["property"])
                          for error in errors], [("two", "position")])

    def test_search(self):
        self.assertEqual(self.check("a.org,b.org"), "")
        self.assertIn("7 domains", self.check(",".join("abcdefg")))
        self.assertIn("characters", self.check("a" * 257))
        self.assertIn("stands twice", self.check("a,a"))
        self.assertIn("empty", self.check("a,,b"))


if __name__ == "__main__":
    unittest.main()
