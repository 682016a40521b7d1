# Offhook in a container. Two stages: one compiles, the other holds what runs.
# Build: docker build -t offhook .        Run: see docker/compose.yaml and docs/operating.md

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts/tsconfig.build.json ./scripts/
COPY src ./src
RUN npm run build

FROM node:24-bookworm-slim
# Of the C library: less memory that no call has (docs/operating.md, memory).
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=1048576 \
    OFFHOOK_HTTP__HOST=0.0.0.0 \
    OFFHOOK_DATA_DIR=/data
WORKDIR /app
# M4A, MP4, AAC and Windows Media are decoded by ffmpeg, and compressed recordings with their channels apart. It is a program of
# its own, under the GPL as Debian builds it; build with --build-arg PROGRAMS= for an image without it.
ARG PROGRAMS=ffmpeg
RUN if [ -n "$PROGRAMS" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $PROGRAMS && rm -rf /var/lib/apt/lists/*; \
    fi
COPY package.json package-lock.json ./
# espeak-ng, an optional dependency under GPL-3.0, comes along; add --omit=optional for an image without it.
RUN npm install --ignore-scripts --omit=dev --no-audit --no-fund && npm cache clean --force
# The sources stay behind: with them, bin/offhook.js would look whether dist is older and need the compiler.
COPY --from=build /app/dist ./dist
COPY bin ./bin
COPY config ./config
COPY LICENSE NOTICE ./
# A new named volume takes the owner of the folder that it is put over.
RUN mkdir -p /data/recordings && chown -R node:node /data
USER node
VOLUME /data
EXPOSE 8080
# The first start trains the embedded recogniser before the gateway listens.
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OFFHOOK_PORT || 8080}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/offhook.js", "start"]
