# The image: a tree that scripts/bundle.mjs makes and tests/e2e/image.test.ts runs, on a bare Debian with the Node of the lockfile.
#   docker build -t cronjob-monitor .
# One process an image run: controller.js, apiserver.js or standalone.js. The command line is on the PATH: cronjob-monitor --help.
# Neither needs a shell. /app/sbom.spdx.json lists every package in it with its licence, in SPDX 2.3.

FROM debian:bookworm-slim AS base

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
COPY --from=base /var/lib/dpkg/status /base/status
COPY --from=base /usr/share/doc /base/doc
RUN npx -y pnpm@12 install --frozen-lockfile \
 && npx -y pnpm@12 exec node scripts/bundle.mjs \
 && npx -y pnpm@12 exec node scripts/sbom.mjs dist/image/sbom.spdx.json /base/status /base/doc \
 && cp "$(npx -y pnpm@12 exec node -p process.execPath)" /usr/local/bin/image-node

FROM base
COPY --from=build /usr/local/bin/image-node /usr/local/bin/node
COPY --from=build /build/dist/image /app
# The node that runs the processes must work on this base; the data folders belong to the user of the processes.
RUN node --version && mkdir /data /spool && chown 65532:65532 /data /spool \
 && printf '#!/usr/local/bin/node\nimport "/app/cronjob-monitor.js";\n' > /usr/local/bin/cronjob-monitor \
 && chmod 755 /usr/local/bin/cronjob-monitor

WORKDIR /app
USER 65532:65532
ENV NODE_ENV=production
# Fewer arenas of the allocator, which give back what is free from 128 KiB on, however much was taken once: seven megabytes less at rest.
ENV MALLOC_ARENA_MAX=2
ENV MALLOC_TRIM_THRESHOLD_=131072
EXPOSE 8080 8081 8443
VOLUME ["/data", "/spool"]
# A young generation of a few MB, and an old one that is collected when it has grown by a third: by default garbage alone would take 250 MB.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=2", "--heap-growing-percent=30"]
CMD ["standalone.js"]
