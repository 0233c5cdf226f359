# Prooftrail in one image. Alone it runs its own broker under /data:
#   docker build -t prooftrail . && docker run --init -p 127.0.0.1:8080:8080 -v prooftrail:/data prooftrail
# `--init` puts a program in front that collects ended processes, as Kubernetes does with `shareProcessNamespace: true`: where the broker's shell is
# killed, its children would stay behind as zombies.
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
# Any user may run it, in group 0 or as 1000 (`bun` in the base image): OpenShift chooses a user of its own, and always gives it group 0.
RUN mkdir -m 0770 /data && chown 1000:0 /data
ENV HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
# A number, so that Kubernetes sees that it is not root (`runAsNonRoot`).
USER 1000
VOLUME /data
EXPOSE 8080
# Asks whether it can serve, not whether it lives: who waits for a container (`docker compose up --wait`, `depends_on`) wants it to answer, and Docker
# itself only shows this. Where something ends what is unhealthy, as Swarm does, have it ask /health/live (`--health-cmd`): neither a broker nor a
# database that is away is mended by another start, and events are taken without the views. Kubernetes does not look at it and has a probe for each.
# The image has no curl. It asks directly, whatever HTTP_PROXY says.
HEALTHCHECK --interval=5s --timeout=4s --start-period=130s --retries=3 \
  CMD ["bun", "-e", "process.env.no_proxy = '*'; process.exit((await fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`)).ok ? 0 : 1)"]
# The image's entry point replaces itself with this, so that the stop signal reaches the service, which ends its own children.
CMD ["bun", "src/service/main.ts"]
