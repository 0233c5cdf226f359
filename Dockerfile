# Prooftrail in one image. Alone it runs its own broker under /data:
#   docker build -t prooftrail . && docker run -p 127.0.0.1:8080:8080 -v prooftrail:/data prooftrail
# With NATS_URL set it uses that one instead: see compose.yaml.

FROM oven/bun:1.4.5-slim AS dependencies
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production

FROM nats:2.15.1-alpine AS broker

FROM oven/bun:1.4.5-slim
WORKDIR /app
# A static binary; found on PATH, so a container never downloads one.
COPY --from=broker /usr/local/bin/nats-server /usr/local/bin/nats-server
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json ./
COPY streams ./streams
COPY src ./src
# A new volume takes the owner of the folder it covers. The service writes nothing else but /dev/shm, which is memory: the root file system may be read-only, and
# `views verify` then needs a `--tmpfs /tmp`.
RUN mkdir /data && chown bun:bun /data
ENV HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
USER bun
VOLUME /data
EXPOSE 8080
# Asks whether it can serve, not whether it lives: who waits for a container (`docker compose up --wait`, `depends_on`) wants it to answer, and Docker
# itself only shows this. Where something ends what is unhealthy, as Swarm does, have it ask /health/live (`--health-cmd`): neither a broker nor a
# database that is away is mended by another start, and events are taken without the views. Kubernetes does not look at it and has a probe for each.
# The image has no curl.
HEALTHCHECK --interval=5s --timeout=4s --start-period=130s --retries=3 \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`)).ok ? 0 : 1)"]
# The image's entry point replaces itself with this, so that the stop signal reaches the service, which ends its own children.
CMD ["bun", "src/service/main.ts"]
