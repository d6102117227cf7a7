# docker build --build-arg VERSION=$(git describe --tags --always --dirty) -t ostler:0.1.0 .
# BASE: Debian 12 from elsewhere, where Docker Hub cannot be reached.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS build
RUN apt-get update -q \
    && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        gcc make libc6-dev libcurl4-openssl-dev libwebsockets-dev libjansson-dev libyaml-dev libssl-dev zlib1g-dev libcap-dev dpkg-dev \
        python3-minimal tzdata \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The library before the program, which changes more often.
COPY scripts/build-curl scripts/
RUN scripts/build-curl build/curl/libcurl.a
COPY Makefile LICENSE ./
COPY scripts/embed scripts/embed-zones scripts/embed-cluster scripts/
COPY controller controller
COPY reconcilers reconcilers
COPY node node
# `ostler plan --simulate` plays rollouts in these.
COPY sim sim
COPY crds crds
COPY charts/ostler/templates charts/ostler/templates
ARG VERSION=unknown
RUN make -j"$(nproc)" VERSION="$VERSION" static
# The programs, and the licences of what is in them; nothing else: no library, no shell, no package manager. ostler-nvml needs the libraries of
# a driver, in whose root alone it is run.
RUN install -D build/static/ostler /image/usr/bin/ostler \
    && install -D build/static/ostler-node /image/usr/bin/ostler-node \
    && install -D build/static/ostler-nvml /image/usr/bin/ostler-nvml \
    && install -D -m 644 LICENSE /image/usr/share/doc/ostler/LICENSE \
    && for package in libc6-dev libcurl4-openssl-dev libwebsockets-dev libssl-dev libjansson-dev libyaml-dev zlib1g-dev libcap-dev tzdata; do \
        install -D -m 644 "/usr/share/doc/$package/copyright" "/image/usr/share/doc/ostler/$package" || exit; done

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/bin/ostler"]
