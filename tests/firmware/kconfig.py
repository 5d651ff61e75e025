"""The options of a Kconfig file as lines of CMake, where the rest of a configuration is stated:

    kconfig.py KCONFIG [FILE.conf | NAME=VALUE ...]

NAME=VALUE is an option of the surroundings (a chip, a board), which the file may ask for; a .conf sets the file's own."""

import pathlib
import sys
import tempfile

import kconfiglib


def options_of(path, given):
    stated = [one.split("=", 1) for one in given if not one.endswith(".conf")]
    around = "".join(f"config {name}\n\tdef_bool {value}\n" for name, value in stated)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "Kconfig")
        root.write_text(f'{around}source "{path}"\n')
        read = kconfiglib.Kconfig(str(root), warn=False)
        for one in given:
            if one.endswith(".conf"):
                read.load_config(one, replace=False)
        return {one.name: one.str_value for one in read.unique_defined_syms
                if one.str_value != "n" and kconfiglib.expr_value(one.direct_dep) > 0}


if __name__ == "__main__":
    for name, value in options_of(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]).items():
        print(f'set(CONFIG_{name} "{value}")')
