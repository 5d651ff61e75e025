"""Writes python/arenaut/records.py: the public structs, enums and functions as ctypes has them, from
what the C preprocessor makes of include/arenaut. `python_records.py --check` says whether the file
is as it would be written.

The headers are plain enough to be read line by line: one typedef per struct, one name per member
list, no bit fields, no unions."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
INCLUDE = ROOT / "include" / "arenaut"
RECORDS = ROOT / "python" / "arenaut" / "records.py"

# Where they are declared. The tape and the runtime have modules of their own.
HEADERS = ("error version device allocator sink problem plan planner check program expr target kernels order "
           "lowering pass rewrite result format report pipeline tensor_arena trace").split()

# Only passed on, never looked into, and so not declared, which keeps the import short.
CLOSED = {"arenaut_program", "arenaut_lowering", "arenaut_pass", "arenaut_certificate"}

SCALARS = {"bool": "c_bool", "int": "c_int", "char": "c_char", "double": "c_double",
           "size_t": "c_size_t", "unsigned": "c_uint", **{
               f"{sign}int{bits}_t": f"c_{sign}int{bits}"
               for sign in ("", "u") for bits in (8, 16, 32, 64)}}
LIMITS = {"UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1}

HEAD = '''"""The structs, enums and functions of the C library. Written by scripts/python_records.py
from its headers, where each is described: change those, and run the script again. What the package
neither calls nor is given is left out."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

'''


def preprocessed():
    """The declarations without comments and directives; the C library's own headers are empty."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            Path(empty, name).touch()
        source = "".join(f"#include <arenaut/{name}.h>\n" for name in HEADERS)
        return subprocess.run([os.environ.get("CC", "cc"), "-E", "-P", "-nostdinc", f"-I{empty}",
                               f"-I{ROOT / 'include'}", "-x", "c", "-"], input=source, check=True,
                              capture_output=True, text=True).stdout


def camel(name):
    return "".join(part.capitalize() for part in name.removeprefix("arenaut_").split("_"))


class Types:
    """The ctypes expression of a C type, by the names that the headers declare."""

    def __init__(self, text):
        self.structs = set(re.findall(r"typedef struct (arenaut_\w+) \{", text)) - CLOSED
        self.enums = set(re.findall(r"typedef enum (arenaut_\w+) \{", text))
        self.functions = {}
        for returns, name, arguments in re.findall(
                r"typedef (\w+) \(\*(arenaut_\w+)\)\(([^)]*)\);", text):
            self.functions[name] = self.callback(returns, arguments)

    def of(self, declared, stars):
        """`declared` without the name, e.g. "const struct arenaut_format", and how many stars."""
        base = [word for word in declared.split() if word not in ("const", "struct", "enum")][0]
        if base in self.functions:
            return self.functions[base]
        if stars and base == "char":
            # What is no constant is read by its length, and ctypes would stop at a NUL.
            kind, stars = "c_char_p" if "const" in declared.split() else "c_void_p", stars - 1
        elif base in self.enums:
            kind = "c_int"
        elif base in self.structs:
            kind = camel(base)
        elif base in SCALARS:
            kind = SCALARS[base]
        elif stars:
            kind, stars = "c_void_p", stars - 1  # void, and structs that stay closed
        else:
            return None  # void as a result
        return "POINTER(" * stars + kind + ")" * stars

    def argument(self, text):
        """Of one parameter, named or not; an array is a pointer."""
        text = re.sub(r"\[[^]]*\]", "*", text)
        if "(*" in text:
            return "c_void_p"
        stars, words = text.count("*"), text.replace("*", " ").split()
        named = words[:-1] if len([w for w in words if w not in ("const", "struct")]) > 1 else words
        kind = self.of(" ".join(named), stars)
        # Bytes come as whatever holds them.
        return "c_void_p" if kind == "POINTER(c_uint8)" else kind

    def arguments(self, text):
        return [] if text.strip() == "void" else [self.argument(one) for one in split(text)]

    def callback(self, returns, arguments):
        return f"CFUNCTYPE({', '.join([str(self.argument(returns)), *self.arguments(arguments)])})"


def split(text):
    """At the commas outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def members(types, body):
    for line in filter(None, (" ".join(one.split()) for one in body.split(";"))):
        function = re.match(r"(.*?)\(\*(\w+)\)\((.*)\)$", line)
        if function:
            yield function[2], types.callback(function[1].strip(), function[3])
            continue
        declarators = [part.strip() for part in split(line)]
        base = re.match(r"(.*?)[* ]*\b\w+(?:\[\w+\])?$", declarators[0])[1]
        declarators[0] = declarators[0].removeprefix(base)
        yield from (member(types, base, one) for one in declarators)


def member(types, base, text):
    """Name and type of "*const *name" or "name[8]", whose other words are `base`."""
    name, length = re.match(r"[* ]*(?:const[* ]+)*(\w+)(?:\[(\w+)\])?$", text).groups()
    if length and base == "char":
        return name, f"c_char * {length}"
    kind = types.of(base, text.count("*"))
    return name, f"{kind} * {length.removeprefix('ARENAUT_')}" if length else kind


def enumerators(text):
    for body in re.findall(r"enum(?: arenaut_\w+)? \{(.*?)\}", text, re.DOTALL):
        value = -1
        for entry in filter(None, (part.strip() for part in split(body))):
            name, _, stated = (part.strip() for part in entry.partition("="))
            value = eval(stated.replace("u", "")) if stated else value + 1
            yield name.removeprefix("ARENAUT_"), value


def constants():
    for header in HEADERS:
        text = (INCLUDE / f"{header}.h").read_text()
        for name, value in re.findall(r"^#define ARENAUT_(\w+) +(\(?U\w+_MAX(?: / 2\))?|\d+u?)(?: |$)", text,
                                      re.MULTILINE):
            yield name, eval(value.rstrip("u").replace("/", "//"), dict(LIMITS))
    version = re.search(r'ARENAUT_VERSION "(.*)"', (INCLUDE / "version.h").read_text())[1]
    yield "VERSION", f'"{version}"'


def called():
    """The functions that some module of the package names as C.arenaut_…"""
    return {name for path in RECORDS.parent.rglob("*.py")
            for name in re.findall(r"\bC\.(arenaut_\w+)", path.read_text())}


def prototypes(types, text):
    plain = re.sub(r"static inline.*?\n\}", "", text, flags=re.DOTALL)
    names = called()
    for head, name, arguments in re.findall(
            r"^(\w[\w *]*?[ *])(arenaut_\w+)\(([^;{]*)\);", plain, re.MULTILINE):
        if name in names:
            names.remove(name)
            taken = types.arguments(arguments)
            yield name, f"(({', '.join(taken)}{',' * (len(taken) == 1)}), {types.argument(head)})"
    if names:
        sys.exit(f"no header declares {', '.join(sorted(names))}")


def reached(structs, expressions):
    """The structs that these expressions name, and those that their members name, in turn."""
    found, new = set(), set(re.findall(r"\w+", " ".join(expressions))) & set(structs)
    while new:
        found |= new
        words = " ".join(kind for name in new for _, kind in structs[name])
        new = set(re.findall(r"\w+", words)) & set(structs) - found
    return [name for name in structs if name in found]


def records():
    text = preprocessed()
    types = Types(text)
    structs = {camel(name): list(members(types, body)) for name, body in re.findall(
        r"typedef struct (arenaut_\w+) \{(.*?)\} arenaut_\w+;", text, re.DOTALL)
        if name not in CLOSED}
    functions = dict(prototypes(types, text))
    used = reached(structs, functions.values())
    lines = [HEAD, *(f"{name} = {value}\n" for name, value in [*constants(), *enumerators(text)])]
    lines += [f'\n\nclass {name}(Structure):\n    pass\n' for name in used]
    lines.append("\n\n")
    for name in used:
        fields = ",\n    ".join(f'("{field}", {kind})' for field, kind in structs[name])
        lines.append(f"{name}._fields_ = [\n    {fields}]\n")
    lines.append("\n#: What each function takes, and what it gives.\nFUNCTIONS = {\n")
    lines += [f'    "{name}": {prototype},\n' for name, prototype in functions.items()]
    return "".join(lines) + "}\n"


def main():
    text = records()
    if "--check" in sys.argv[1:]:
        return 0 if RECORDS.read_text() == text else "python/arenaut/records.py is old: run " + sys.argv[0]
    RECORDS.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
