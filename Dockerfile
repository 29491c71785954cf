# docker build -t anyshape . && docker run --rm -v "$PWD:/models" anyshape check model.onnx
FROM debian:12-slim AS build
COPY tools/install_deps.sh /source/tools/
RUN apt-get update && apt-get install -y --no-install-recommends make ca-certificates && /source/tools/install_deps.sh build
COPY . /source
WORKDIR /source
RUN cmake --preset release -DANYSHAPE_TESTS=OFF && cmake --build --preset release --target anyshape_package \
    && DESTDIR=/image cmake --install build/release --prefix /usr/local

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libfmt9 libsimdjson14 libhwy1 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /image/usr/local /usr/local
RUN ldconfig
WORKDIR /models
ENTRYPOINT ["anyshape"]
CMD ["--help"]
