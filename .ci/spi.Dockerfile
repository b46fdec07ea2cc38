# The image in which the Swift Package Index builds this package: its own, and the libraries of Scripts/lib.sh (build_needs).
# To be proposed to its images as Dockerfile.thumbnailer: it builds in no others.
ARG VERSION
FROM registry.gitlab.com/finestructure/spi-images:basic-${VERSION}-latest
RUN apt-get update && apt-get install -y --no-install-recommends \
    libcurl4-openssl-dev libdav1d-dev libde265-dev libisal-dev libjpeg-dev libsqlite3-dev libtiff-dev \
    libvips-dev libwebp-dev pkg-config \
  && rm -rf /var/lib/apt/lists/*
