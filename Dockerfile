# docker build --build-arg VERSION=$(git describe --tags --always --dirty) -t ostler:0.1.0 .
# BASE: Debian 13 from elsewhere, where Docker Hub cannot be reached; or Debian 12.
# For other processors than this machine's, `docker buildx build --platform linux/arm64` compiles here for there.
# The digest names what was the tag debian:trixie-slim when it was written here; `docker buildx imagetools inspect debian:trixie-slim` prints a newer one.
ARG BASE=debian:trixie-slim@sha256:d7e12182ce18b85b93007c1dedf31f2d29e01ccf3182cc4017c709b6259bc132
FROM --platform=${BUILDPLATFORM:-linux} ${BASE} AS build
ARG TARGETARCH
WORKDIR /src
COPY scripts/deps scripts/
RUN scripts/deps static $TARGETARCH && rm -rf /var/lib/apt/lists/*
# The libraries before the program, which changes more often.
COPY scripts/build-libraries scripts/
RUN arch=${TARGETARCH:-$(dpkg --print-architecture)}; OSTLER_OPENSSL=own scripts/build-libraries "build/libraries/$arch" "$arch"
COPY Makefile LICENSE ./
COPY scripts/embed scripts/embed-zones scripts/embed-cluster scripts/embed-completion scripts/embed-types scripts/sbom scripts/
COPY main main
COPY kubectl kubectl
COPY lib lib
COPY controller controller
COPY commands commands
COPY reconcilers reconcilers
COPY node node
# `ostler plan --simulate` plays rollouts in these.
COPY sim sim
COPY crds crds
COPY charts/ostler/templates charts/ostler/templates
ARG VERSION=unknown
RUN arch=${TARGETARCH:-$(dpkg --print-architecture)}; make -j"$(nproc)" VERSION="$VERSION" ARCH="$arch" image-root \
    && mv build/static*/image /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/bin/ostler"]
