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
COPY api_client api_client
COPY mcp_server mcp_server
COPY ioc_intelligence ioc_intelligence
COPY scripts/compose_secrets.py scripts/cluster_secrets.py scripts/image_root.py scripts/
# Files of the same content make the same layer, whenever they were written.
ARG SOURCE_DATE_EPOCH=0
RUN groupadd --gid 10001 ioc \
 && useradd --uid 10001 --gid ioc --no-create-home --home-dir /data --shell /usr/sbin/nologin ioc \
 && install -d -m 0700 /own/data \
 && mv scripts/image_root.py /tmp \
 && rm -f scripts/install scripts/bootstrap.py requirements.txt .venv/installed.json \
 && SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH PYTHONHASHSEED=0 .venv/bin/python -I /tmp/image_root.py /app /image \
 && touch --date=@$SOURCE_DATE_EPOCH /own/data

# Python and what the service needs of the system, and nothing else of it: no package manager, no compiler.
FROM scratch
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /own /
ENV PATH=/app/.venv/bin:/usr/local/bin:/usr/bin:/bin \
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
