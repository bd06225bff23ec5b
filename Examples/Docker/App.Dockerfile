# A program of your own that depends on Tansu. Its Package.swift has the trait EngineFromSource, so nothing is installed:
#
#     .package(url: "…", from: "0.1.0", traits: ["EngineFromSource"])
#
# Run it in the root of that package; PROGRAM is the name of the executable product:
#
#     docker build -f App.Dockerfile --build-arg PROGRAM=notes -t notes .
#     docker run --rm -v "$PWD/data:/data" notes
#
# A program with TansuSync or TansuServer also needs libicu-dev and libpcre2-dev in the first stage, libicu72 and libpcre2-8-0 in
# the second.

# ---- Build: Swift and zlib's header ----
FROM swift:6.1-bookworm AS build
ARG PROGRAM
RUN apt-get update && apt-get install -y --no-install-recommends zlib1g-dev
WORKDIR /src
# A change of the sources does not fetch the packages again.
COPY Package.* ./
RUN swift package resolve
COPY . .
RUN swift build -c release --static-swift-stdlib -Xlinker -s --product "$PROGRAM"
# The program, under the name `program`, and its resources, which it looks for next to itself.
RUN programs=$(swift build -c release --static-swift-stdlib --show-bin-path) \
    && mkdir /ship \
    && cp "$programs/$PROGRAM" /ship/program \
    && find "$programs" -maxdepth 1 -name '*.resources' -exec cp -R {} /ship/ \;

# ---- Run: no compiler and no Swift ----
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgcc-s1 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /ship /usr/local/bin
ENTRYPOINT ["program"]
