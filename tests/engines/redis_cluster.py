"""A master, a replica and three Sentinels of Redis, with TLS and passwords or without: a test kills what it likes."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.engines.authority import Certificates
from tests.engines.engine import free_port, program

MASTER = "ioc"
PASSWORD, SENTINEL_PASSWORD = "of-the-servers", "of-the-sentinels"
_SENTINELS = 3
_START_SECONDS = 20.0


class RedisCluster:
    """Two servers and three Sentinels on loopback; what is killed stays killed."""

    def __init__(self, folder: Path, certificates: Certificates | None = None) -> None:
        """Raise NotToBeHad where there is no redis-server to start."""
        self._folder = folder
        self._certificates = certificates
        self._program = program("redis-server", "redis-server")
        self.ports = (free_port(), free_port())
        self._sentinel_ports = tuple(free_port() for _ in range(_SENTINELS))
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        """The address with all passwords and, where there is one, the certificate authority."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._sentinel_ports)
        scheme, more = (
            ("rediss", f"&ssl_ca_certs={self._certificates.authority}") if self._certificates else ("redis", "")
        )
        return f"{scheme}+sentinel://:{PASSWORD}@{hosts}/{MASTER}/0?sentinel_password={SENTINEL_PASSWORD}{more}"

    def start(self) -> None:
        """Return when every Sentinel knows the master, its replica and the other Sentinels."""
        first, second = self.ports
        self._serve(first)
        self._serve(second, "--replicaof", f"127.0.0.1 {first}")
        for port in self._sentinel_ports:
            self._watch(port)
        _until(lambda: all(self._knows_all(port) for port in self._sentinel_ports), "the Sentinels know everybody")

    def kill_master(self) -> None:
        """Kill the server that the Sentinels call the master."""
        self.kill(self.master())

    def master(self) -> int:
        """Return the port of the master."""
        for port in self._sentinel_ports:
            if self.processes[port].poll() is None:
                with self._client(port, SENTINEL_PASSWORD) as sentinel:
                    return int(sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)[1])
        raise AssertionError("no Sentinel runs")

    def kill(self, port: int) -> None:
        self.processes[port].kill()
        self.processes[port].wait(10)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait(10)

    def _serve(self, port: int, *options: str) -> None:
        secrets = ["--requirepass", PASSWORD, "--masterauth", PASSWORD]
        tuned = ["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]
        self._launch(port, [*self._listening(port), *secrets, *tuned, *options])
        _until(lambda: self._answers(port, PASSWORD), f"Redis answers on {port}")

    def _watch(self, port: int) -> None:
        file = self._folder / f"sentinel-{port}.conf"
        lines = [
            f"sentinel monitor {MASTER} 127.0.0.1 {self.ports[0]} 2",
            f"sentinel auth-pass {MASTER} {PASSWORD}",
            f"sentinel down-after-milliseconds {MASTER} 1000",
            f"sentinel failover-timeout {MASTER} 3000",
            f"sentinel sentinel-pass {SENTINEL_PASSWORD}",
            f"requirepass {SENTINEL_PASSWORD}",
        ]
        file.write_text("\n".join(lines) + "\n")
        self._launch(port, [str(file), "--sentinel", *self._listening(port)])
        _until(lambda: self._answers(port, SENTINEL_PASSWORD), f"a Sentinel answers on {port}")

    def _listening(self, port: int) -> Sequence[str]:
        common = ["--bind", "127.0.0.1", "--dir", str(self._folder)]
        if self._certificates is None:
            return [*common, "--port", str(port)]
        files = self._certificates
        named = [("cert-file", files.server), ("key-file", files.key), ("ca-cert-file", files.authority)]
        tls = [part for name, file in named for part in (f"--tls-{name}", str(file))]
        secure = ["--tls-auth-clients", "no", "--tls-replication", "yes"]
        return [*common, "--port", "0", "--tls-port", str(port), *tls, *secure]

    def _launch(self, port: int, arguments: Sequence[str]) -> None:
        with (self._folder / f"output-{port}").open("ab") as output:
            self.processes[port] = subprocess.Popen([self._program, *arguments], stdout=output, stderr=output)

    def _client(self, port: int, password: str) -> Redis:
        authority = str(self._certificates.authority) if self._certificates else None
        return Redis(
            host="127.0.0.1",
            port=port,
            password=password,
            socket_timeout=2,
            decode_responses=True,
            ssl=authority is not None,
            ssl_ca_certs=authority,
        )

    def _answers(self, port: int, password: str) -> bool:
        with contextlib.suppress(RedisError), self._client(port, password) as client:
            return bool(client.ping())
        return False

    def _knows_all(self, port: int) -> bool:
        with self._client(port, SENTINEL_PASSWORD) as sentinel:
            told = sentinel.execute_command("SENTINEL", "MASTER", MASTER)
        known = told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
        return (int(known["num-slaves"]), int(known["num-other-sentinels"])) == (1, _SENTINELS - 1)


def _until(look: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _START_SECONDS
    while not look():
        if time.monotonic() > end:
            raise TimeoutError(f"not in time: {what}")
        time.sleep(0.1)


@contextmanager
def redis_cluster(folder: Path, certificates: Certificates | None = None) -> Iterator[RedisCluster]:
    """A cluster that runs as long as the context."""
    folder.mkdir(parents=True, exist_ok=True)
    made = RedisCluster(folder, certificates)
    try:
        made.start()
        yield made
    finally:
        made.close()
