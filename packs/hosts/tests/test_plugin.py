"""The plugin of the hosts pack."""

import importlib.machinery
import importlib.util
import os
import unittest

from muster_plugin.testing import FakeModel, Harness

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bin", "plugin")


def load():
    loader = importlib.machinery.SourceFileLoader("hosts_plugin", PROGRAM)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("hosts_plugin",
                                                                             loader))
    loader.exec_module(module)
    return module.HostsPlugin


CONFIG = {name: {} for name in ("path", "manage", "scope", "network_name", "include_ms",
                                "include_domain")}
HOST = {"hostname": {}, "domain": {}}
INTERFACE = {"network_name": {}, "ipaddress": {}, "ipv6address": {}}


def item_type(name, properties=None, extends=""):
    document = {"id": name, "properties": properties or {}, "views": {}, "elements": {
        element: {"kind": "collection", "type": "root"}
        for element in ("network_interfaces", "entries")}}
    return {**document, "extends": extends} if extends else document


TYPES = [item_type("root"), item_type("ms", HOST), item_type("deployment"),
         item_type("cluster-base"), item_type("cluster", extends="cluster-base"),
         item_type("node", HOST), item_type("network-interface", INTERFACE),
         item_type("node-config"), item_type("cluster-config"),
         item_type("hosts-file", CONFIG, "node-config"),
         item_type("cluster-hosts-file", CONFIG, "cluster-config"),
         item_type("hosts-entry", {"address": {}, "names": {}})]


def many(kind, **members):
    return {"class": "collection", "type": kind, **members}


def interface(address, **more):
    return {"type": "network-interface", "properties": {"ipaddress": address, **more}}


def config(kind="hosts-file", entries=None, **properties):
    values = {"path": "/etc/hosts", "manage": "block", "scope": "deployment",
              "include_ms": "true", "include_domain": "true", **properties}
    return {"type": kind, "properties": values, "entries": many("hosts-entry", **(entries or {}))}


def host(hostname, address, state="Initial", kind="node", configs=None, **interfaces):
    return {"type": kind, "state": state, "properties": {"hostname": hostname, "domain": "x.org"},
            "network_interfaces": many("network-interface", if0=interface(address), **interfaces),
            "configs": many("node-config", **(configs or {}))}


def model(nodes, cluster_configs=None, other_nodes=None):
    clusters = {"c": {"type": "cluster", "nodes": many("node", **nodes),
                      "configs": many("cluster-config", **(cluster_configs or {}))}}
    if other_nodes:
        clusters["e"] = {"type": "cluster", "nodes": many("node", **other_nodes)}
    return FakeModel(TYPES, {
        "ms": host("ms", "192.0.2.1", kind="ms"),
        "deployments": many("deployment", d={"type": "deployment",
                                             "clusters": many("cluster-base", **clusters)})})


class Hosts(unittest.TestCase):
    def setUp(self):
        self.plugin = load()

    def tasks(self, fake):
        return Harness(self.plugin, fake, "hosts").create_configuration()

    def test_a_node_knows_its_deployment_and_the_management_server(self):
        entries = {"db": {"type": "hosts-entry",
                          "properties": {"address": "192.0.2.99", "names": "db,db.x.org"}}}
        fake = model({"n1": host("one", "192.0.2.11", configs={"hosts": config(entries=entries)}),
                      "n2": host("two", "192.0.2.12", state="ForRemoval")},
                     other_nodes={"n3": host("three", "192.0.2.13")})
        tasks = self.tasks(fake)
        self.assertEqual(len(tasks), 1)
        self.assertEqual(tasks[0]["call"], ["hosts", "/etc/hosts"])
        self.assertEqual(tasks[0]["attributes"]["entries"], [
            {"address": "192.0.2.1", "names": ["ms.x.org", "ms"]},
            {"address": "192.0.2.11", "names": ["one.x.org", "one"]},
            {"address": "192.0.2.13", "names": ["three.x.org", "three"]},
            {"address": "192.0.2.99", "names": ["db", "db.x.org"]}])
        self.assertEqual(len(tasks[0]["model_items"]), 2)

    def test_scope_network_and_names_are_followed(self):
        fake = model({"n1": host("one", "192.0.2.11", configs={"hosts": config(
            scope="cluster", network_name="data", include_ms="false", include_domain="false")},
            if1=interface("198.51.100.1", network_name="data", ipv6address="2001:db8::1/64"))},
            other_nodes={"n3": host("three", "192.0.2.13")})
        self.assertEqual(self.tasks(fake)[0]["attributes"]["entries"], [
            {"address": "198.51.100.1", "names": ["one"]},
            {"address": "2001:db8::1", "names": ["one"]}])

    def test_a_cluster_has_its_file_on_every_node(self):
        fake = model({"n1": host("one", "192.0.2.11"), "n2": host("two", "192.0.2.12"),
                      "n3": host("three", "192.0.2.13", state="ForRemoval")},
                     {"hosts": config("cluster-hosts-file")})
        self.assertEqual([task["node"].rsplit("/", 1)[1] for task in self.tasks(fake)],
                         ["n1", "n2"])

    def test_removal_leaves_the_file(self):
        gone = {**config(), "state": "ForRemoval"}
        fake = model({"n1": host("one", "192.0.2.11", configs={"hosts": gone})})
        self.assertEqual(self.tasks(fake)[0]["attributes"],
                         {"ensure": "absent", "manage": "block"})

    def test_a_file_that_changes_hands_has_one_task(self):
        gone = {**config(), "state": "ForRemoval"}
        fake = model({"n1": host("one", "192.0.2.11", configs={"hosts": gone})},
                     {"hosts": config("cluster-hosts-file")})
        tasks = self.tasks(fake)
        self.assertEqual([task["attributes"]["ensure"] for task in tasks], ["present"])
        self.assertIn("/deployments/d/clusters/c/nodes/n1/configs/hosts", tasks[0]["model_items"])

    def test_one_file_is_managed_once(self):
        fake = model({"n1": host("one", "192.0.2.11", configs={"hosts": config()})},
                     {"hosts": config("cluster-hosts-file")})
        errors = Harness(self.plugin, fake, "hosts").validate_model()
        self.assertEqual(len(errors), 1)
        self.assertIn("is managed by", errors[0]["message"])


if __name__ == "__main__":
    unittest.main()
