# docker build --build-arg VERSION=$(git describe --tags --always --dirty) -t ostler:0.1.0 .
# BASE: Debian 13 from another registry if Docker Hub is out of reach; or Debian 12.
# For another processor, `docker buildx build --platform linux/arm64` cross-compiles here.
# The digest pins the image that the tag debian:trixie-slim named when this line was written.
# `docker buildx imagetools inspect debian:trixie-slim` prints the present one.
ARG BASE=debian:trixie-slim@sha256:d7e12182ce18b85b93007c1dedf31f2d29e01ccf3182cc4017c709b6259bc132
FROM --platform=${BUILDPLATFORM:-linux} ${BASE} AS build
ARG TARGETARCH
WORKDIR /src
COPY scripts/deps scripts/
RUN scripts/deps static $TARGETARCH && rm -rf /var/lib/apt/lists/*
# The libraries come before the program, because they change less often.
COPY scripts/build-libraries scripts/
RUN arch=${TARGETARCH:-$(dpkg --print-architecture)}; \
    OSTLER_OPENSSL=own scripts/build-libraries "build/libraries/$arch" "$arch"
COPY Makefile LICENSE ./
COPY scripts/embed* scripts/sbom scripts/
COPY main main
COPY kubectl kubectl
COPY lib lib
COPY controller controller
COPY commands commands
COPY reconcilers reconcilers
COPY node node
COPY web web
# `ostler demo` runs the simulator, and `ostler plan --simulate` rollouts in it.
COPY sim sim
COPY crds crds
COPY charts/ostler/templates charts/ostler/templates
ARG VERSION=dev
RUN arch=${TARGETARCH:-$(dpkg --print-architecture)}; \
    make -j"$(nproc)" VERSION="$VERSION" ARCH="$arch" image-root && \
    mv build/static*/image /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
# `docker run -p 127.0.0.1:8081:8081 IMAGE demo`: the page has to be reachable from outside.
ENV container=oci
EXPOSE 8080 8081
ENTRYPOINT ["/usr/bin/ostler"]
