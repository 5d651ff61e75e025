"""The site is built, with nothing to complain of: the notebook and the gallery run, every name of the
package is in the reference, and no link of it leads nowhere, or outside without being asked."""

import base64
import importlib
import os
import re
import subprocess
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from conftest import COMMAND, ROOT

MKDOCS = ROOT / "build" / "venv-site" / "bin" / "mkdocs"


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that links may name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.places = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(source)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not MKDOCS.is_file():
        pytest.fail("build/venv-site is missing: make venv-site")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run([MKDOCS, "build", "--strict", "-d", out], cwd=ROOT, capture_output=True, text=True,
                          timeout=300, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1",
                          "ARENAUT_LIBRARY": str(COMMAND.parent / "libarenaut.so")})
    assert done.returncode == 0, done.stderr[-4000:]
    return {path: Page(path) for path in out.rglob("*.html")}, out


def test_no_link_leads_nowhere(site):
    pages, out = site
    lost = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.is_file() or (parts.fragment and known
                                        and unquote(parts.fragment) not in known.places):
                lost.append(f"{path.relative_to(out)}: {link}")
    assert not lost and len(pages) > 40


def test_no_page_loads_anything_from_elsewhere(site):
    pages, out = site
    assert not [f"{path.relative_to(out)}: {source}" for path, page in pages.items()
                for source in page.loaded if urlsplit(source).scheme not in ("", "data")]


def test_the_notebook_shows_its_plans(site):
    text = (site[1] / "notebook.html").read_text()
    pictures = re.findall('src="data:image/svg[+]xml;base64,([A-Za-z0-9+/=]+)"', text)
    shown = [base64.b64decode(one).decode() for one in pictures]
    assert sum("mobilenet_v1" in one for one in shown) == 2
    assert "55,296 bytes, minimal, today 73,728" in text and "need 20 bytes more" in text
    assert "One arena for all 4" in "".join(shown)


def test_the_gallery_has_its_pictures(site):
    pictures = sorted((site[1] / "gallery").glob("*.svg"))
    assert len(pictures) == 10
    assert all(one.read_text().startswith("<?xml") or "<svg" in one.read_text() for one in pictures)
    assert "73,728" in (site[1] / "gallery" / "today.svg").read_text()


def test_every_name_is_in_the_reference(site, monkeypatch):
    monkeypatch.setenv("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    names = set(importlib.import_module("arenaut").__all__) - {"__version__"}
    [page] = [page for path, page in site[0].items() if path.name == "api.html"]
    for name in names:
        assert {f"arenaut.{name}", f"arenaut.errors.{name}"} & page.places, name
    for name in ("executorch.MemoryPlanningPass", "executorch.plan", "torch.compile", "torch.load", "torch.fit", "torch.curve",
                 "tape.Tape"):
        assert f"arenaut.{name}" in page.places, name
    text = (site[1] / "api.html").read_text()
    assert text.count("Source code in") > 20 and "Raises" in text


def test_every_exported_symbol_is_in_the_c_reference(site):
    text = (site[1] / "capi.html").read_text()
    symbols = (ROOT / "tests" / "abi" / "symbols.txt").read_text().split()
    assert len(symbols) > 100 and not [name for name in symbols if f"{name}</" not in text and f"{name}," not in text]


def test_the_c_reference_is_of_declarations_with_their_types(site):
    text = (site[1] / "capi.html").read_text()
    shown = re.sub("<[^>]+>", "", text)
    assert 'extern "C"' not in shown.replace("&quot;", '"') and "\\_" not in shown and "\\*" not in shown
    headers = [path.read_text() for path in (ROOT / "include" / "arenaut").glob("*.h")]
    types = {name for header in headers for name in re.findall(r"^\} (arenaut_\w+);", header, re.M)}
    assert len(types) > 40 and not [name for name in types if not re.search(rf"<h3[^>]*>[^<]*\b{name}\b", text)]
