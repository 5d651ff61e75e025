"""Pictures of plans, where they can be seen."""

from __future__ import annotations

import os
import sys

from arenaut.watch import in_notebook


def html(plan):
    """The picture under a line that says what it is, and folded in below it the page in which it can be
    searched and zoomed. Both in frames of their own, so that their styles and those of the notebook do
    not meet; where a notebook is not trusted, the picture is what remains."""
    import base64
    import html as escapes
    picture = base64.b64encode(plan._repr_svg_().encode()).decode()
    page = escapes.escape(str(plan.report("html")))
    return (f"<div>{escapes.escape(repr(plan)[1:-1])}</div>\n"
            f'<img alt="the plan" style="max-width: 100%" src="data:image/svg+xml;base64,{picture}">\n'
            '<details><summary>explore</summary><iframe sandbox="allow-scripts allow-downloads" title="the plan" '
            f'style="width: 100%; height: 720px; border: 0" srcdoc="{page}"></iframe></details>')


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
    import pathlib
    import tempfile
    import webbrowser
    handle, path = tempfile.mkstemp(prefix="arenaut-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(plan.report("html"))
    return webbrowser.open(pathlib.Path(path).as_uri())
