# The service in one image: `ioc serve` by default, `ioc worker` and every other command as its arguments.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /app
# The environment alone first: it is built anew only when the lock changes.
COPY pyproject.toml requirements.txt ./
COPY scripts/install scripts/bootstrap.py scripts/
RUN scripts/install \
 && .venv/bin/python -m pip uninstall --quiet --yes setuptools pip
COPY search_mappings search_mappings
COPY intel intel
COPY ingest ingest
COPY api api
COPY mcp_server mcp_server
COPY ioc_intelligence ioc_intelligence
COPY scripts/compose_secrets.py scripts/cluster_secrets.py scripts/
RUN .venv/bin/python -m compileall -q --invalidation-mode unchecked-hash \
    search_mappings intel ingest api mcp_server ioc_intelligence \
 && rm -f scripts/install scripts/bootstrap.py requirements.txt

FROM ${PYTHON_IMAGE}
RUN groupadd --gid 10001 ioc \
 && useradd --uid 10001 --gid ioc --no-create-home --home-dir /data --shell /usr/sbin/nologin ioc \
 && install -d -o ioc -g ioc -m 0700 /data
COPY --from=build /app /app
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    IOC_HOST=0.0.0.0 \
    IOC_PORT=8000 \
    IOC_DATA_DIR=/data
USER ioc
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=6s --start-period=90s --retries=5 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"IOC_PORT\"]}/readyz', timeout=5)"]
ENTRYPOINT ["ioc"]
CMD ["serve"]
