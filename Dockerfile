# docker build --target runtime -t aoe-runtime .    what programs need that run oms
# docker build --target tools -t aoe-tools .        and what tunes and compiles them
# Measuring needs whole cores: docker run --cpuset-cpus=0-3, not --cpus (docs/ci.md).
FROM debian:12 AS build
WORKDIR /src
COPY . .
RUN scripts/install_packages packages.txt \
 && cmake --preset release -DBUILD_TESTING=OFF -DAOE_PYTHON=OFF \
 && cmake --build --preset release \
 && cd build/release && cpack -G DEB -B /packages

FROM debian:12-slim AS runtime
COPY --from=build /packages/aoe-runtime_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/aoe-runtime_*.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/*.deb

FROM runtime AS tools
COPY --from=build /packages/aoe-tools_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/aoe-tools_*.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/*.deb
# Banks live in a volume: docker run -v bank:/bank aoe-tools aoe --model=...
ENV TUNE_BANK_PATH=/bank
VOLUME /bank
