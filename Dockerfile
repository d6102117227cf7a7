# docker build --build-arg VERSION=$(git describe --tags --always --dirty) -t ostler:0.1.0 .
# BASE: Debian 12 from elsewhere, where Docker Hub cannot be reached.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        gcc make libc6-dev libcurl4-openssl-dev libwebsockets-dev libjansson-dev libyaml-dev python3-minimal tzdata \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Makefile LICENSE ./
COPY scripts/embed scripts/embed-zones scripts/embed-cluster scripts/
COPY controller controller
COPY reconcilers reconcilers
# `ostler plan --simulate` plays rollouts in these.
COPY sim sim
COPY crds crds
COPY charts/ostler/templates charts/ostler/templates
ARG VERSION=unknown
RUN make -j"$(nproc)" VERSION="$VERSION" build/ostler && strip build/ostler
# The program, the libraries that it loads at the paths where the loader looks, and nothing else: no shell, no package manager.
RUN mkdir -p /image/usr/bin \
    && cp build/ostler /image/usr/bin/ \
    && install -D -m 644 LICENSE /image/usr/share/doc/ostler/LICENSE \
    && ldd build/ostler | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/bin/ostler"]
