"""A small model for the tests of the SDK."""

from muster_plugin.testing import FakeModel


def _type(name, extends="", properties=(), elements=(), views=()):
    document = {"id": name, "pack": "core",
                "properties": {key: dict(flags) for key, flags in dict(properties).items()},
                "elements": {key: {"kind": "collection", "type": kind} for key, kind in elements},
                "views": dict(views)}
    if extends:
        document["extends"] = extends
    return document


TYPES = [
    _type("root"), _type("ms"), _type("software"), _type("deployment"),
    _type("cluster-base"), _type("cluster", "cluster-base"),
    _type("node", properties={"hostname": {}, "is_locked": {"write": True},
                              "password": {"secret": True}},
          views={"url": {"pack": "test", "method": "url"},
                 "far": {"pack": "other", "method": "far"}}),
    _type("software-item"),
    _type("package", "software-item", {"name": {}, "version": {}, "state": {}}),
    _type("bundle", "package", {"name": {}, "version": {}, "state": {}}),
]


def collection(kind, members, refs=False):
    return {"class": "ref-collection" if refs else "collection", "type": kind, **members}


def node(hostname, **more):
    properties = {"hostname": hostname, "is_locked": "false", **more.pop("properties", {})}
    items = {"nginx": {"type": "package", "inherit": "/software/items/nginx",
                       "properties": {"name": "nginx", "version": "1"}, **more.pop("nginx", {})}}
    return {"type": "node", "properties": properties,
            "items": collection("software-item", items, refs=True), **more}


def make_model(nodes=None):
    return FakeModel(TYPES, {
        "ms": {"type": "ms"},
        "software": {"type": "software", "items": collection("software-item", {
            "nginx": {"type": "package", "properties": {"name": "nginx", "version": "1"}},
            "all": {"type": "bundle", "state": "Applied",
                    "properties": {"name": "all", "version": "2"},
                    "applied": {"name": "all", "version": "1"}}})},
        "deployments": collection("deployment", {"d": {
            "type": "deployment", "clusters": collection("cluster-base", {"c": {
                "type": "cluster",
                "nodes": collection("node", nodes or {"n1": node("one"), "n2": node("two")})}})}}),
    })


N1 = "/deployments/d/clusters/c/nodes/n1"
