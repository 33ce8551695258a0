"""Puts together all that the image holds, and a list of its parts: Python, what it needs of the system, the service.

    image_root.py APP ROOT

Standard library only. Every file gets the same time, and what Python compiles depends on the source alone, so that the
same input makes the same layer.
"""

from __future__ import annotations

import compileall
import importlib.metadata
import json
import os
import py_compile
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

# Of the system: certificates, names of users and hosts, and a few tools for whoever looks into a container.
SYSTEM = (
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/ssl",
    "/usr/lib/ssl",
    *(f"/bin/{tool}" for tool in ("sh", "cat", "df", "env", "id", "ls", "sleep", "touch")),
)
# By path from the folder of packages or of the standard library. Nothing of the service asks for them: a test runs
# its commands in the image.
LEFT_OUT = re.compile(
    r"""
    (.*/)?(__pycache__|tests?|idlelib|tkinter|turtledemo|ensurepip|lib2to3|dist-packages|site-packages/pip)(/|$)
    | config-[^/]+(/|$)                            # static libraries of Python
    | .*\.(a|c|cpp|h|pxd|pxi|pyi|pyx)$             # what compilers and type checkers read
    | babel/locale-data/(?!(root|en)\.dat$).       # names of days and months in 1,100 languages
    | pygments/lexers/(?!(__init__|_mapping|python|special)\.py$).
    | pydoc_data/ | lib-dynload/(nis|_dbm|_gdbm)\. # what nobody reads, and data bases of the eighties
    | lxml/(objectify|html/_difflib)\.             # parts of lxml that nothing imports
    """,
    re.VERBOSE,
)
MADE_AT = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
_LIBRARY = re.compile(r"(/\S+) \(0x")


def main(app: Path, root: Path) -> None:
    """Fill `root`."""
    packages = Path(sysconfig.get_path("purelib"))
    base = Path(sysconfig.get_path("stdlib"))
    programs = [Path(sys.executable).resolve(), *map(Path, SYSTEM)]
    for path in (*programs, *_files(base), *_files(app, packages)):
        if os.path.lexists(path):
            add(path, root)
    for library in sorted(libraries(root)):
        add(Path(library), root)
    for module in root.rglob("*.so"):
        drop_symbols(module)
    compile_all(root, (app, base))
    (root / "tmp").mkdir(mode=0o1777)
    (root / "tmp").chmod(0o1777)
    (root / app.relative_to("/") / "sbom.cdx.json").write_text(json.dumps(parts(root), indent=1) + "\n")
    for path in [root, *root.rglob("*")]:
        os.utime(path, (MADE_AT, MADE_AT), follow_symlinks=False)


def _files(folder: Path, packages: Path | None = None) -> Iterator[Path]:
    """Return what is kept below a folder; `packages` is a folder below it with paths of its own."""
    for path in sorted(folder.rglob("*")):
        below = packages if packages is not None and path.is_relative_to(packages) else folder
        if not LEFT_OUT.match(path.relative_to(below).as_posix()) and (path.is_symlink() or path.is_file()):
            yield path


def add(path: Path, root: Path) -> None:
    """Copy a file or a folder to its own place below `root`, with the links and folders that lead to it."""
    there = root / path.relative_to("/")
    if os.path.lexists(there):
        return
    if path.parent != path.parent.resolve():
        add_link_above(path, root)
    elif path.is_symlink():
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(path.readlink())
        target = Path(os.path.normpath(path.parent / path.readlink()))
        if target.exists():
            add(target, root)
    elif path.is_dir():
        there.mkdir(parents=True, exist_ok=True)
        for each in sorted(path.iterdir()):
            add(each, root)
    else:
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, there)


def add_link_above(path: Path, root: Path) -> None:
    """Copy what a path leads to through a link such as /lib, and that link."""
    link = next(folder for folder in reversed(path.parents) if folder.is_symlink())
    there = root / link.relative_to("/")
    if not os.path.lexists(there):
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(link.readlink())
    add(link.parent / link.readlink() / path.relative_to(link), root)


def libraries(root: Path) -> set[str]:
    """Return the system's libraries that programs and modules below `root` ask for, at any remove."""
    found = set[str]()
    for path in root.rglob("*"):
        if path.is_symlink() or not path.is_file() or _start(path)[:4] != b"\x7fELF":
            continue
        # Asked where it came from: what a package brings along is found from there.
        asked = subprocess.run(["ldd", f"/{path.relative_to(root)}"], capture_output=True, text=True)
        found.update(os.path.normpath(library) for library in _LIBRARY.findall(asked.stdout))
    return found


def drop_symbols(module: Path) -> None:
    """Cut off what a debugger reads: it lies behind all that is loaded, and is half of some packages."""
    if module.is_symlink() or _start(module) != b"\x7fELF\x02\x01":
        return
    content = bytearray(module.read_bytes())
    (headers,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    loaded = [struct.unpack_from("<8xQ16xQ", content, headers + size * number) for number in range(count)]
    struct.pack_into("<Q", content, 40, 0)  # the table of sections: where it lies …
    struct.pack_into("<HHH", content, 58, 0, 0, 0)  # … and how long it is
    module.write_bytes(content[: max(offset + length for offset, length in loaded)])


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(6)


def compile_all(root: Path, folders: Iterable[Path]) -> None:
    """Compile everything, because the image cannot be written to; by its source, because all times are the same."""
    for folder in folders:
        here = root / folder.relative_to("/")
        compileall.compile_dir(
            here,
            maxlevels=99,
            stripdir=str(root),
            prependdir="/",
            quiet=2,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )


def parts(root: Path) -> dict[str, object]:
    """Return the parts as a CycloneDX document: packages of Python, and of the system those that files came from."""
    found = {("pypi", each.name, each.version) for each in importlib.metadata.distributions() if each.name}
    found.add(("generic", "python", ".".join(map(str, sys.version_info[:3]))))
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${binary:Package} ${Version}\n"], capture_output=True, text=True, check=True
    )
    versions = dict(line.split() for line in shown.stdout.splitlines())
    # Some packages name their files by the place at which they lay before /bin and /lib became links.
    files = [path.relative_to(root / "usr") for path in (root / "usr").rglob("*") if not path.is_dir()]
    named = [f"{top}{file}" for file in files for top in ("/usr/", "/")]
    owners = subprocess.run(["dpkg", "-S", *named], capture_output=True, text=True)
    for owner in {line.partition(": ")[0] for line in owners.stdout.splitlines()}:
        version = versions.get(owner) or versions.get(owner.partition(":")[0])
        if version:
            found.add(("deb/debian", owner.partition(":")[0], version))
    components = [
        {"type": "library", "name": name, "version": version, "purl": f"pkg:{kind}/{name}@{version}"}
        for kind, name, version in sorted(found)
    ]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
