"""Pictures of plans, made by the build from models and problems of the repository. Time goes from left to
right, addresses upwards; each box is a buffer.

    python examples/gallery.py FOLDER     writes them, one SVG each
"""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arenaut

DATA = Path(__file__).parents[1] / "tests" / "data"


def today():
    """A MobileNet, as tflite-micro places it today

    The dotted line is the runtime's need, the strong boxes are those that are alive at the peak."""
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    return model.plan(planner="tflm-greedy")


def planned():
    """The same, planned

    A quarter less memory for the same program, and the proof that no plan needs less."""
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    return model.plan()


def overlapped():
    """The same, with results that reach into operands

    Kernels walk through an image in order, and bytes that they have read may be written over. Hatched are bytes
    of two tensors."""
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    return model.plan(overlap=True, kernels="reference")


def in_pieces():
    """The same, with tiled ops

    The large tensor in the middle is never whole. All ops are stock ones, and compute the same."""
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    return model.plan(split=True, overlap=True, kernels="reference")


def branches():
    """A network of branches, as ExecuTorch runs it

    Values of several branches wait for the join, and make up the peak."""
    return arenaut.open(DATA / "pte" / "branches.pte").plan()


def two_memories():
    """Two memories, the faster one filled first

    The buffers that are used most lie in the fast memory, as far as it fits."""
    model = arenaut.open(DATA / "inception_int8.tflite")
    return model.plan(pools=[arenaut.Pool("dtcm", 16_384, 16), arenaut.Pool("sram", None, 16)])


def decoder():
    """A decoder with a cache

    Keys and values keep their bytes from call to call, all else comes and goes above them."""
    return arenaut.open(DATA / "pte" / "kv_decoder.pte").plan()


def tight():
    """Ten buffers that have to interlock

    No more than nine bytes are alive at once, and yet no plan does with nine: that ten are needed, and are
    enough, is proven."""
    return arenaut.open(DATA / "fragmented.csv").plan()


def crowd():
    """Five hundred buffers at random

    Found in a fraction of a second, and no plan is smaller."""
    number = random.Random(3).randrange
    first = [number(80) for _ in range(500)]
    end = [a + 1 + number(12) for a in first]
    return arenaut.plan([64 * number(1, 80) for _ in first], first, end, align=64)


def buckets():
    """One arena for several lengths

    A sweep plans the model once for each, and says how large an arena is that all of them can share."""
    with ThreadPoolExecutor(2) as executor:
        sizes = arenaut.sweep(DATA / "onnx" / "open_sizes.onnx",
                              {"dims": {"seq": [16, 32, 64, 128], "past": [16, 64]}}, executor,
                              dims={"batch": 1, "image.2": 32, "image.3": 32})
        assert not sizes.totals["failed"]  # which waits for all of them
    return sizes


PICTURES = (today, planned, overlapped, in_pieces, branches, two_memories, decoder, tight, crowd, buckets)


def drawn(picture):
    """The SVG of the result of one of the functions above."""
    shown = picture()
    return str(shown._repr_svg_())


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        (folder / f"{picture.__name__}.svg").write_text(drawn(picture))


if __name__ == "__main__":
    main()
