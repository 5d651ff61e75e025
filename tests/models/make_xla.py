"""Makes the dumps of XLA in tests/data/xla: what the CPU compiler of jaxlib 0.10.2 writes of small
models with its buffer assignment.

    python tests/models/make_xla.py tests/data/xla
    python tests/models/make_xla.py build/xla --large

needs jax[cpu]==0.10.2 (build/venv-hosts). The dumps name lines of this file: who moves some makes all again. --large
makes models of usual sizes instead, for the table of docs/xla.md.
"""
import glob
import os
import shutil
import sys
import tempfile

DUMP = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = f"--xla_dump_to={DUMP} --xla_dump_hlo_as_proto"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 the flags are read when it is loaded
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

# The name of this file, whatever folder it is in.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

F = jnp.float32


def of(*dims, dtype=F):
    return jax.ShapeDtypeStruct(dims, dtype)


def descend(loss):
    """One step of training: the loss, and the weights after it."""
    def step(weights, *batch):
        value, slopes = jax.value_and_grad(loss)(weights, *batch)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)
    return step


# ---- a network of convolutions with branches -------------------------------------------------

def convolve(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def halve(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")


def cnn_weights(channels, classes):
    blocks = [[of(3, 3, before, c), of(3, 3, c, c)] for before, c in zip([3, *channels], channels)]
    return [*blocks, of(channels[-1], classes)]


def cnn(weights, x):
    for first, second in weights[:-1]:
        y = jax.nn.relu(convolve(x, first))
        x = halve(y + jax.nn.gelu(convolve(y, second)))
    return x.mean((1, 2)) @ weights[-1]


def cnn_loss(weights, x, labels):
    scores = jax.nn.log_softmax(cnn(weights, x))
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))


# ---- a U-Net: what the way down made is needed on the way up ---------------------------------

def unet_weights(channels):
    down = [of(3, 3, before, c) for before, c in zip([3, *channels], channels)]
    up = [of(3, 3, 2 * c, c // 2) for c in reversed(channels)]
    return down, up


def unet(weights, x):
    down, up = weights
    kept = []
    for w in down:
        x = jax.nn.relu(convolve(x, w))
        kept.append(x)
        x = halve(x)
    for w in up:
        x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        side = kept.pop()
        x = x if x.shape[-1] == side.shape[-1] else jnp.concatenate([x, x], -1)
        x = jax.nn.relu(convolve(jnp.concatenate([x, side], -1), w))
    return x


# ---- a transformer ---------------------------------------------------------------------------

HEADS = 4


def layer_weights(width, layers):
    layer = [of(width, width)] * 4 + [of(width, 4 * width), of(4 * width, width)]
    return [list(layer) for _ in range(layers)]


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attend(h, wq, wk, wv, wo):
    batch, tokens, width = h.shape

    def heads(w):
        return (h @ w).reshape(batch, tokens, HEADS, width // HEADS).transpose(0, 2, 1, 3)
    q, k, v = heads(wq), heads(wk), heads(wv)
    weights = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / (width // HEADS) ** 0.5)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, tokens, width) @ wo


def transformer(weights, x):
    for wq, wk, wv, wo, up, down in weights:
        x = x + attend(normal(x), wq, wk, wv, wo)
        x = x + jax.nn.gelu(normal(x) @ up) @ down
    return x


# ---- a loop and a condition; hardly anything ------------------------------------------------

def scan(x):
    last, sums = lax.scan(lambda c, _: (jnp.tanh(c @ c), c.sum()), x, None, length=5)
    return lax.cond(sums.sum() > 0, lambda c: c @ c @ c, lambda c: c + 1, last), sums


def chain(x):
    return jnp.tanh(x @ x) @ x


# ---- the files -------------------------------------------------------------------------------

def models(large):
    batch, side, channels = (32, 64, [64, 128]) if large else (2, 8, [8, 12])
    weights = cnn_weights(channels, 10)
    image, labels = of(batch, side, side, 3), of(batch, dtype=jnp.int32)
    yield "cnn", cnn, (weights, image)
    yield "cnn_train", descend(cnn_loss), (weights, image, labels)
    if large:
        weights = unet_weights([32, 64, 128])
        yield "unet", unet, (weights, image)
        yield "unet_train", descend(lambda w, x: (unet(w, x) ** 2).mean()), (weights, image)
    width, tokens, layers = (256, 128, 4) if large else (16, 8, 1)
    weights, text = layer_weights(width, layers), of(batch, tokens, width)
    yield "transformer", transformer, (weights, text)
    if large:
        yield "transformer_train", descend(lambda w, x: (transformer(w, x) ** 2).mean()), (weights, text)
    yield "scan", scan, (of(tokens, tokens),)
    yield "chain", chain, (of(tokens, tokens),)


def main(out, large):
    os.makedirs(out, exist_ok=True)
    for name, function, arguments in models(large):
        function.__name__ = name
        donated = (0,) if name == "cnn_train" else ()
        jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
        found = glob.glob(f"{DUMP}/*.jit_{name}.cpu_after_optimizations.hlo.pb")
        assert len(found) == 1, found
        shutil.copy(found[0], f"{out}/{name}.hlo.pb")
        if name == "cnn":  # what is dumped first of a module has no buffers yet
            shutil.copy(glob.glob(f"{DUMP}/*.jit_{name}.before_optimizations.hlo.pb")[0],
                        f"{out}/no_buffers.hlo.pb")
    shutil.rmtree(DUMP)


if __name__ == "__main__":
    main(sys.argv[1], "--large" in sys.argv)
