"""Hooks of mkdocs.yml: the pages that are not files of docs/. README.md becomes the first page; what pages
link to outside docs becomes a page with its text; the gallery is made by running examples/gallery.py, the
reference for C of the public headers."""

import importlib.util
import inspect
import os
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
#: Pages of the site that lie elsewhere in the repository.
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
#: The command for browsers, where `make browser` has made it; the first page links to it below its title.
COMMAND_PAGE = ROOT / "build" / "arenaut.html"
TRY_IT = f"\n\n[**Drop a model here**: the command in this browser, nothing is sent]({COMMAND_PAGE.name})\n\n"
#: Where PyPI, which shows README.md, finds its pictures and pages; the site has them itself.
REPOSITORY = re.compile(r"https://(raw\.githubusercontent\.com/arenaut/arenaut|github\.com/arenaut/arenaut/blob)/main/")
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
LANGUAGES = {".h": "c", ".c": "c", ".cpp": "cpp", ".py": "python", ".sh": "sh"}


def on_config(config):
    """What runs pages has this checkout's package."""
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    sys.path.insert(0, str(ROOT / "python"))
    return config


def on_files(files, config):
    for page, path in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    for file in [*gallery(config), File.generated(config, "capi.md", content=c_reference())]:
        files.append(file)
    if COMMAND_PAGE.is_file():
        files.append(File.generated(config, COMMAND_PAGE.name, abs_src_path=str(COMMAND_PAGE)))
    for path in sorted(path for file in pages(files) for path in linked_sources(file)):
        if not files.get_file_from_path(target_of(path)):
            files.append(source_file(config, path))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files of the repository become links to pages of the site."""
    def link(found):
        path = repository_path(page.file.src_uri, found[1])
        return found[1] if path is None else \
            posixpath.relpath(target_of(path), posixpath.dirname(page.file.src_uri) or ".")
    linked = LINK.sub(link, markdown)
    if page.file.src_uri == "index.md" and COMMAND_PAGE.is_file():
        return linked.replace("\n\n", TRY_IT, 1)
    return linked


def pages(files):
    return [file for file in files.documentation_pages() if file.src_uri.endswith(".md")]


def repository_path(page, link):
    """The path in the repository that a page links to; None for what lies elsewhere."""
    link = REPOSITORY.sub("", link)
    if ":" in link or page.startswith("source/"):
        return None
    origin = PAGES.get(page, f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    return path if (ROOT / path).exists() else None


def target_of(path):
    """The file of the site for a path of the repository."""
    for page, origin in PAGES.items():
        if path == origin:
            return page
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path.removeprefix("docs/")
    return f"source/{path}" + ("" if is_binary(path) else ".md")


def is_binary(path):
    return (ROOT / path).is_file() and b"\0" in (ROOT / path).read_bytes()[:1000]


def linked_sources(page):
    """Paths of the repository outside docs that a page links to."""
    paths = (repository_path(page.src_uri, link) for link in LINK.findall(page.content_string))
    return [path for path in paths if path and target_of(path).startswith("source/")]


def source_file(config, path):
    """A page with the text of a file, or with the names in a folder."""
    place = ROOT / path
    if is_binary(path):
        return File.generated(config, target_of(path), abs_src_path=str(place))
    if place.is_dir():
        names = sorted(one.name + "/" * one.is_dir() for one in place.iterdir() if one.name[0] not in "._")
        text = "\n".join(f"- `{name}`" for name in names)
    else:
        text = f"`````{LANGUAGES.get(place.suffix, '')}\n{place.read_text()}`````"
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    return File.generated(config, target_of(path), content=head + text + "\n")


def gallery(config):
    """A page and its pictures: what each function of examples/gallery.py is, and what it draws."""
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "examples" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = ["# Gallery", "", inspect.getdoc(module).split("\n\n")[0].replace("\n", " "), ""]
    for picture in module.PICTURES:
        name = picture.__name__
        title, _, about = inspect.getdoc(picture).partition("\n\n")
        code = inspect.getsource(picture).split('"""')[-1].strip("\n")
        text += [f"## {title.rstrip('.')}", "", about.replace("\n", " "), "", "```python",
                 inspect.cleandoc(code), "```", "",
                 f'<div class="gallery"><a href="gallery/{name}.svg">'
                 f'<img src="gallery/{name}.svg" alt="{title}"></a></div>', ""]
        yield File.generated(config, f"gallery/{name}.svg", content=module.drawn(picture))
    yield File.generated(config, "gallery.md", content="\n".join(text))


FUNCTION = re.compile(r"^[\w* ]+?\**\b(arenaut_\w+)\(", re.M)
TYPE = re.compile(r"^(?:\} |typedef struct \w+ |typedef .*\(\*)(arenaut_\w+)(?:\)\(.*)?;?$", re.M)
BLOCK = re.compile(r"\A(?:/\*(.*?)\*/\s*)?(.*)\Z", re.S)
FRAME = re.compile(r"#(endif|include|ifdef __c).*|extern \"C\" \{|\}")  # lines of each header that declare nothing


def c_reference():
    """All of include/arenaut: each block of a header, parted by blank lines, its comment above its declarations."""
    text = ["# C reference", "", "The public headers, as they are; [stability](stability.md) says what may change.", ""]
    for header in sorted((ROOT / "include" / "arenaut").glob("*.h")):
        first, *blocks = re.split(r"\n\s*\n", header.read_text().strip())
        text += [f"## {header.name}", "", plain(BLOCK.match(first)[1]), ""]
        for block in blocks:
            comment, code = BLOCK.match(block).groups()
            code = "\n".join(line for line in code.splitlines() if not FRAME.fullmatch(line))
            names = TYPE.findall(code) + FUNCTION.findall(code)
            text += [f"### {', '.join(dict.fromkeys(names))}", ""] if names else []
            text += [plain(comment), ""] if comment else []
            text += ["```c", code, "```", ""] if code.strip() else []
    return "\n".join(text)


def plain(comment):
    """The text of a comment as a paragraph, or as several; code in it stays as it is."""
    lines = [line.strip().removeprefix("*").strip() for line in comment.strip("*").strip().splitlines()]
    parts = re.split("(`[^`]*`)", "\n".join(lines))
    return "".join(part if i % 2 else part.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
                   for i, part in enumerate(parts))
