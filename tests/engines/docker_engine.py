"""Containers for tests, through testcontainers; the one place that knows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.errors import DockerException, ImageNotFound
from testcontainers.community.elasticsearch import ElasticSearchContainer
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import ExecWaitStrategy, HttpWaitStrategy

from tests.engines.engine import Engine, NotToBeHad

ELASTICSEARCH_IMAGE = "docker.elastic.co/elasticsearch/elasticsearch:9.5.0"
REDIS_IMAGE = "redis:7"


@contextmanager
def docker_engine() -> Iterator[Engine]:
    """The Docker engine, where one answers within seconds; its address is its version."""
    try:
        client = docker.from_env(timeout=5)
        try:
            version = client.version()["Version"]
        finally:
            client.close()
    except DockerException as error:
        raise NotToBeHad("no Docker engine answers") from error
    yield Engine(version, f"engine {version} answers")


def need_image(image: str, pull: bool) -> None:
    client = docker.from_env(timeout=600)
    try:
        client.images.get(image)
    except ImageNotFound as missing:
        if not pull:
            raise NotToBeHad(f"no image {image} here") from missing
        try:
            client.images.pull(image)
        except DockerException as error:
            raise NotToBeHad(f"the image {image} cannot be pulled") from error
    finally:
        client.close()


@contextmanager
def started(container: DockerContainer, port: int, scheme: str) -> Iterator[Engine]:
    # Without this an extra image would be needed, whose container removes what a killed run left behind.
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
    try:
        container.start()
    except (DockerException, TimeoutError, RuntimeError) as error:
        container.stop()
        raise NotToBeHad(f"the container of {container.image} did not start: {error}") from error
    try:
        address = f"{scheme}://{container.get_container_host_ip()}:{container.get_exposed_port(port)}"
        yield Engine(address, f"{address} (Docker, {container.image})")
    finally:
        container.stop()


@contextmanager
def elasticsearch_container(java_options: str, in_memory: bool, pull: bool) -> Iterator[Engine]:
    with docker_engine():
        need_image(ELASTICSEARCH_IMAGE, pull)
    container = ElasticSearchContainer(ELASTICSEARCH_IMAGE)
    container.waiting_for(HttpWaitStrategy(9200, "/_cluster/health").with_startup_timeout(120))
    container.with_env("discovery.type", "single-node").with_env("ES_JAVA_OPTS", java_options)
    container.with_env("cluster.routing.allocation.disk.threshold_enabled", "false")
    # With the line above, each look at the disk lifts the blocks that a test has put on its indices.
    container.with_env("cluster.info.update.interval", "1h")
    container.with_env("cluster.max_shards_per_node", "10000")
    if in_memory:
        container.with_kwargs(shm_size="2g").with_env("path.data", "/dev/shm/data")  # noqa: S108 - in the container
    with started(container, 9200, "http") as engine:
        yield engine


@contextmanager
def redis_container(pull: bool) -> Iterator[Engine]:
    with docker_engine():
        need_image(REDIS_IMAGE, pull)
    container = DockerContainer(REDIS_IMAGE).with_exposed_ports(6379)
    container.with_command("redis-server --bind 0.0.0.0 --protected-mode no --save '' --databases 1024")
    container.waiting_for(ExecWaitStrategy(["redis-cli", "ping"]).with_startup_timeout(60))
    with started(container, 6379, "redis") as engine:
        yield engine
