"""A cluster of Elasticsearch on loopback, with security and TLS or without: a test kills and stops its nodes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from tests.engines.authority import Certificates
from tests.engines.elasticsearch_server import IN_HASTE, NOBODY, java_home, launch, server_home
from tests.engines.engine import free_port, memory_folder

_SECRETS = Path(__file__).parents[2] / "scripts" / "compose_secrets.py"
USER = "ioc_service"
PASSWORD = "of-the-service-itself"
_START_SECONDS = 180.0
AS_DEPLOYED = "-Xms512m -Xmx512m"


class ElasticsearchCluster:
    """Nodes that hold data and may be elected; what is killed can be started again on its data."""

    def __init__(self, folder: Path, nodes: int, certificates: Certificates | None, options: str) -> None:
        """Raise NotToBeHad where there is no server or no Java to run it."""
        self._java, self._home = java_home(), server_home()
        self._options = options
        self.certificates = certificates
        self.names = [f"node-{number}" for number in range(nodes)]
        self.ports = [free_port() for _ in self.names]
        self._transport = [free_port() for _ in self.names]
        self._folders = [folder / name for name in self.names]
        self._cluster = f"tests-{uuid.uuid4().hex[:8]}"
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def urls(self) -> list[str]:
        scheme = "https" if self.certificates else "http"
        return [f"{scheme}://127.0.0.1:{port}" for port in self.ports]

    @property
    def environment(self) -> dict[str, str]:
        """The settings with which a service uses this cluster, as the role of the documents."""
        found = {"ELASTICSEARCH_URL": ",".join(self.urls)}
        if self.certificates:
            found |= {
                "ELASTICSEARCH_CA_CERTS": str(self.certificates.authority),
                "ELASTICSEARCH_USERNAME": USER,
                "ELASTICSEARCH_PASSWORD": PASSWORD,
            }
        return found

    def start(self) -> None:
        for number in range(len(self.names)):
            self._prepare(number)
            self.processes.append(self._launch(number))
        self.wait_until_whole(len(self.names), _START_SECONDS)

    def wait_until_whole(self, nodes: int, seconds: float) -> None:
        """Return when so many nodes make up the cluster and every shard has its copies."""
        end = time.monotonic() + seconds
        asked = {"wait_for_nodes": str(nodes), "wait_for_status": "green", "timeout": "5s"}
        while True:
            with contextlib.suppress(httpx.HTTPError):
                answer = self.get("/_cluster/health", **asked)
                if answer.status_code == 200:
                    return
            if time.monotonic() > end or any(each.poll() is not None for each in self.processes):
                last = [(each / "output").read_text(errors="replace")[-1_500:] for each in self._folders]
                raise TimeoutError(f"no cluster of {nodes} nodes: {last}")
            time.sleep(0.5)

    def get(self, path: str, **parameters: str) -> httpx.Response:
        """Ask the nodes one after the other; return the first answer."""
        error: httpx.HTTPError | None = None
        for url in self.urls:
            try:
                with self.client() as client:
                    return client.get(url + path, params=parameters)
            except httpx.HTTPError as raised:
                error = raised
        raise error or AssertionError("there are no nodes")

    def put(self, path: str, body: object) -> httpx.Response:
        with self.client() as client:
            return client.put(self.urls[self.running()[0]] + path, json=body).raise_for_status()

    def post(self, path: str) -> httpx.Response:
        with self.client() as client:
            return client.post(self.urls[self.running()[0]] + path, timeout=300).raise_for_status()

    def client(self) -> httpx.Client:
        if not self.certificates:
            return httpx.Client(timeout=8)
        context = ssl.create_default_context(cafile=str(self.certificates.authority))
        return httpx.Client(timeout=8, verify=context, auth=(USER, PASSWORD))

    def running(self) -> list[int]:
        return [number for number, each in enumerate(self.processes) if each.poll() is None]

    def master(self) -> int:
        """Return the number of the elected master."""
        (row,) = self.get("/_cat/master", format="json").json()
        return self.names.index(row["node"])

    def kill(self, number: int) -> None:
        os.killpg(self.processes[number].pid, signal.SIGKILL)
        self.processes[number].wait(20)

    def stop(self, number: int) -> None:
        os.killpg(self.processes[number].pid, signal.SIGSTOP)

    def go_on(self, number: int) -> None:
        os.killpg(self.processes[number].pid, signal.SIGCONT)

    def start_again(self, number: int) -> None:
        self.processes[number] = self._launch(number)

    def close(self) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)

    def _launch(self, number: int) -> subprocess.Popen[bytes]:
        return launch(self._folders[number], self._home, self._java, self._options)

    def _prepare(self, number: int) -> None:
        folder = self._folders[number]
        shutil.copytree(self._home / "config", folder / "config", dirs_exist_ok=True)
        for name in ("data", "logs", "temporary"):
            (folder / name).mkdir(exist_ok=True)
        if self.certificates:
            for file in (self.certificates.authority, self.certificates.server, self.certificates.key):
                shutil.copy(file, folder / "config" / file.name)
            self._write_users(folder)
        (folder / "config" / "elasticsearch.yml").write_text("\n".join(self._settings(number)))
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY)

    def _write_users(self, folder: Path) -> None:
        """Write the service's user and role, as the containers do."""
        environment = {**os.environ, "ELASTICSEARCH_PASSWORD": PASSWORD}
        made = folder / "temporary" / "secrets"
        subprocess.run([sys.executable, _SECRETS, str(made)], env=environment, check=True)
        for file in (made / "elasticsearch" / "realm").iterdir():
            shutil.copy(file, folder / "config" / file.name)

    def _settings(self, number: int) -> Sequence[str]:
        seeds = ", ".join(f"127.0.0.1:{port}" for port in self._transport)
        several = (f"discovery.seed_hosts: [{seeds}]", f"cluster.initial_master_nodes: [{', '.join(self.names)}]")
        folder = self._folders[number]
        return (
            f"cluster.name: {self._cluster}",
            f"node.name: {self.names[number]}",
            *(several if len(self.names) > 1 else ("discovery.type: single-node",)),
            "network.host: 127.0.0.1",
            f"http.port: {self.ports[number]}",
            f"transport.port: {self._transport[number]}",
            "cluster.routing.allocation.disk.threshold_enabled: false",
            "cluster.info.update.interval: 1h",
            f"path.data: {folder / 'data'}",
            f"path.logs: {folder / 'logs'}",
            *self._security(),
            "",
        )

    def _security(self) -> Sequence[str]:
        if not self.certificates:
            return ("xpack.security.enabled: false",)
        files = {"key": self.certificates.key, "certificate": self.certificates.server}
        lines = ["xpack.security.enabled: true"]
        for layer in ("http", "transport"):
            lines.append(f"xpack.security.{layer}.ssl.enabled: true")
            lines += [f"xpack.security.{layer}.ssl.{name}: {file.name}" for name, file in files.items()]
        lines.append(f"xpack.security.transport.ssl.certificate_authorities: {self.certificates.authority.name}")
        return lines


@contextmanager
def elasticsearch_cluster(
    nodes: int = 1,
    certificates: Certificates | None = None,
    options: str = f"{AS_DEPLOYED} {IN_HASTE}",
    keep: Path | None = None,
) -> Iterator[ElasticsearchCluster]:
    """A cluster that runs as long as the context, compiled in haste if nothing else is said; raises NotToBeHad.

    Its data stay in the folder `keep`, from which the next one goes on; else they stand in memory where there is room.
    """
    with ExitStack() as stack:
        if keep is None:
            made_folder = tempfile.TemporaryDirectory(
                prefix="elasticsearch-", dir=memory_folder(), ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(made_folder))
        else:
            folder = keep
            folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        made = ElasticsearchCluster(folder, nodes, certificates, options)
        try:
            made.start()
            yield made
        finally:
            made.close()
