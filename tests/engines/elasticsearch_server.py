"""Elasticsearch for tests: a given one, a container, or the server archive from Maven Central run on loopback."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.engines.docker_engine import elasticsearch_container
from tests.engines.engine import Engine, NotToBeHad, first_of, free_port, memory_folder, running, succeeds, wait_until

VARIABLE = "TEST_ELASTICSEARCH_URL"
CACHE = "TEST_CACHE"
VERSION = "9.5.0"
ARTIFACT = f"org.elasticsearch.distribution.integ-test-zip:elasticsearch:{VERSION}:zip"
NOBODY = 65534
JAVA_OPTIONS = "-Xms1g -Xmx1g"
# Most of what a test's server runs, it runs once: to compile it well costs more than it gains. What it loads and
# compiles has room from the start: each time that a part of it is used up, Java looks through all of its memory.
IN_HASTE = (
    "-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC"
    " -XX:ReservedCodeCacheSize=240m -XX:InitialCodeCacheSize=64m -XX:MetaspaceSize=256m"
)
JAVA_OPTIONS_FOR_TESTS = f"{JAVA_OPTIONS} {IN_HASTE}"


def elasticsearch(for_tests: bool = True) -> AbstractContextManager[Engine]:
    """An Elasticsearch without security; the address is its URL.

    For tests it keeps its data in memory and is compiled in haste: most of their time goes into making indices, which
    on a disk waits for it. What is measured runs as it is deployed.
    """
    options = JAVA_OPTIONS_FOR_TESTS if for_tests else JAVA_OPTIONS
    return first_of(
        VARIABLE,
        lambda: elasticsearch_container(options, in_memory=for_tests, pull=False),
        lambda: server_from_maven(options, memory_folder() if for_tests else None),
        lambda: elasticsearch_container(options, in_memory=for_tests, pull=True),
    )


def java_version(home: Path) -> int:
    """The major version of a JDK that can run the server; 0 for anything else."""
    try:
        release = (home / "release").read_text()
    except OSError:
        return 0
    version = re.search(r'^JAVA_VERSION="(\d+)', release, re.MULTILINE)
    return int(version.group(1)) if version and "jdk.jlink" in release else 0


def java_home() -> Path:
    named = [Path(os.environ[name]) for name in ("ES_JAVA_HOME", "JAVA_HOME") if os.environ.get(name)]
    installed = [*Path("/usr/lib/jvm").glob("*"), *Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home")]
    for home in [*named, *sorted(installed, key=java_version, reverse=True)]:
        if java_version(home) >= 21:
            return home
    raise NotToBeHad("no JDK 21 or newer here")


def cache_folder() -> Path:
    """A folder that only this user may write, kept between runs: under the temporary one, that of the whole run where
    its tests have another.
    """
    folder = Path(os.environ.get(CACHE) or tempfile.gettempdir()) / f"ioc-intelligence-tests-{os.geteuid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise NotToBeHad(f"{folder} belongs to someone else")
    return folder


def unpack(archive: Path, into: Path) -> None:
    with zipfile.ZipFile(archive) as members:
        for member in members.infolist():
            path = Path(members.extract(member, into))
            path.chmod(0o755 if member.is_dir() else (member.external_attr >> 16) & 0o755 | 0o644)


def server_home() -> Path:
    """The unpacked server, fetched through Maven on first use."""
    cache = cache_folder()
    home = cache / f"elasticsearch-{VERSION}"
    if home.exists():
        return home
    if shutil.which("mvn") is None:
        raise NotToBeHad("no Maven to fetch the server with")
    with tempfile.TemporaryDirectory(dir=cache) as work:
        fetch = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={work}"]
        if not succeeds(fetch, 600):
            raise NotToBeHad("Maven could not fetch the server")
        unpack(Path(work) / f"elasticsearch-{VERSION}.zip", Path(work))
        with contextlib.suppress(FileExistsError, OSError):  # another run was first
            (Path(work) / home.name).rename(home)
    return home


def settings(folder: Path, port: int) -> str:
    return "\n".join(
        (
            "cluster.name: tests",
            "discovery.type: single-node",
            "http.host: 127.0.0.1",
            f"http.port: {port}",
            "transport.host: 127.0.0.1",
            f"transport.port: {free_port()}",
            "xpack.security.enabled: false",
            "cluster.routing.allocation.disk.threshold_enabled: false",
            # With the line above, each look at the disk lifts the blocks that a test has put on its indices.
            "cluster.info.update.interval: 1h",
            "cluster.max_shards_per_node: 10000",
            f"path.data: {folder / 'data'}",
            f"path.logs: {folder / 'logs'}",
            "",
        )
    )


def prepare(folder: Path, home: Path, port: int) -> None:
    """Fills a folder of its own for one run; the server refuses to run as root, so root hands the folder to nobody."""
    shutil.copytree(home / "config", folder / "config")
    for name in ("data", "logs", "temporary"):
        (folder / name).mkdir()
    (folder / "config" / "elasticsearch.yml").write_text(settings(folder, port))
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)


def launch(folder: Path, home: Path, java: Path, options: str) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "ES_JAVA_HOME": str(java),
        "ES_PATH_CONF": str(folder / "config"),
        "ES_JAVA_OPTS": options,
        "ES_TMPDIR": str(folder / "temporary"),
    }
    user = NOBODY if os.geteuid() == 0 else None
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(
            [str(home / "bin" / "elasticsearch")],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_cluster/health?timeout=1s", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def server_from_maven(options: str, parent: Path | None) -> Iterator[Engine]:
    """A server whose data stand in a folder of its own, below `parent` or the temporary folder."""
    java, home, port = java_home(), server_home(), free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="elasticsearch-", dir=parent, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        prepare(folder, home, port)
        with running(launch(folder, home, java, options)) as process:
            try:
                wait_until(process, lambda: healthy(url), 120)
            except NotToBeHad as error:
                last = (folder / "output").read_text(errors="replace")[-600:]
                raise NotToBeHad(f"{error}: {last}") from error
            yield Engine(url, f"{url} (server {VERSION} from Maven Central, Java {java_version(java)})")
