"""A joint graph in a planned order, with the calls that run again as nodes of their own.

PyTorch's default partition then cuts it where the forward pass ends: what it saves is what the plan keeps.
"""

from __future__ import annotations

import operator

import torch

from arenaut.torch.traced import WITHOUT_STATISTICS, statistics_of


class Scheduler:
    """Copies the nodes of a joint graph in the order of its program's ops."""

    def __init__(self, joint):
        self.joint, self.graph = joint, torch.fx.Graph()
        self.latest, self.first = {}, {}  # node -> its copies
        self.tag = "is_forward"

    def scheduled(self, ops):
        """The new module: `ops` are numbers of the program's, some several times."""
        nodes = self.joint.graph.graph.nodes
        for node in nodes:
            if node.op in ("placeholder", "get_attr"):
                self.note(node, self.graph.node_copy(node, self.latest.__getitem__))
        for op in ops:
            node = self.joint.ops[op]
            if node is None:
                self.tag = "is_backward"
            else:
                self.run(node)
        results = self.joint.results
        # What the caller gets is what was made first; the graph holds that to its end.
        self.graph.node_copy(results, self.first.__getitem__)
        return torch.fx.GraphModule(self.joint.graph, self.graph)

    def note(self, node, copy):
        self.latest[node] = copy
        self.first.setdefault(node, copy)

    def run(self, node):
        again = node in self.first
        if "first" in node.meta and not again:
            self.note(node, self.latest[node.meta["first"]])  # what drew the mask has applied it
            return
        made = self.copied(node)
        fields = [user for user in node.users if user.target is operator.getitem]
        if again and statistics_of(node):
            made.target, operands, n = WITHOUT_STATISTICS[node.target]
            made.args = operands(made.args)
            made.meta["val"] = made.meta["val"][:len(made.target._schema.returns)]
            fields = [field for field in fields if field.args[1] < n]
        self.note(node, made)
        # At once, since a field that is taken later keeps all others.
        for field in fields:
            self.note(field, self.copied(field))

    def copied(self, node):
        copy = self.graph.node_copy(node, self.latest.__getitem__)
        copy.meta = {key: value for key, value in node.meta.items() if key not in ("recompute", "ac_graph_id", "first")}
        copy.meta.update(partitioner_tag=self.tag, joint_name=node.name)
        return copy


def default_partition(*arguments, **about):
    from functorch.compile import default_partition as partition  # takes a second to import
    return partition(*arguments, **about)


def partition(joint, ops, joint_inputs, **about):
    """Forward and backward graphs that run these ops of the joint graph's program."""
    return default_partition(Scheduler(joint).scheduled(ops), joint_inputs, **about)
