"""ONNX Runtime as the documentation says that a session keeps the nodes of a file in their order."""

import json

import onnxruntime


def session(path, without=(), **settings):
    """No node fused or moved, and of those that could run next the first of the file; `without`: these
    optimizers, where some are asked for."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
    for name, value in settings.items():
        setattr(options, name, value)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"],
                                        disabled_optimizers=list(without))


def executed(path, feeds, folder):
    """The nodes in the order in which they ran, by the runtime's own profile."""
    running = session(path, enable_profiling=True, profile_file_prefix=str(folder / "profile"))
    running.run(None, feeds)
    with open(running.end_profiling()) as file:
        events = json.load(file)
    done = [event for event in events if event.get("name", "").endswith("_kernel_time")]
    return [int(event["args"]["node_index"]) for event in sorted(done, key=lambda event: event["ts"])]
