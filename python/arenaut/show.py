"""Pictures of plans, where they can be seen."""

from __future__ import annotations

import os
import sys

from arenaut.watch import in_notebook


def html(plan):
    """The picture, under a line that says what it is; as an image, so that its styles and those of the
    page around it do not meet."""
    import base64
    import html as escapes
    data = base64.b64encode(plan._repr_svg_().encode()).decode()
    return (f"<div>{escapes.escape(repr(plan)[1:-1])}</div>\n"
            f'<img alt="the plan" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">')


def view(plan, path=None):
    if path is not None:
        plan.save(path)
    elif in_notebook():
        sys.modules["IPython"].display.display(plan)
    elif not opened(plan):
        print(plan.report("ascii", unicode=True))


def opened(plan):
    """Whether a browser on a screen took it."""
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or
                                        os.environ.get("WAYLAND_DISPLAY")):
        return False
    import tempfile
    import webbrowser
    handle, path = tempfile.mkstemp(prefix="arenaut-", suffix=".svg")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(plan._repr_svg_())
    return webbrowser.open(f"file://{path}")
