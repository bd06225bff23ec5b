#if TansuServer
import HummingbirdCore
import NIOCore
@testable import TansuServer

/// Endpoints that show how the server treats bodies, streams and feeds.
enum TestRoutes {
    static let all = [
        Route(
            "/test/echo", allow: "PUT", access: .everyone,
            [.put: .init { request in .json(buffer: try await request.collectedBody()) }]),
        Route(
            "/test/unread", allow: "PUT", access: .everyone,
            [.put: .init { _ in throw HTTPFailure.badRequest("The body was not read") }]),
        Route(
            "/test/stream", allow: "GET", access: .everyone,
            [
                .get: .init { request in
                    let parts = try request.query.positiveInteger("parts") ?? 3
                    return .streamed { stream in
                        for part in 0..<parts { try await stream.write("part \(part)\n") }
                    }
                }
            ]),
        // In one piece, without the pieces of a stream.
        Route(
            "/test/large", allow: "GET", access: .everyone,
            [
                .get: .init { request in
                    let size = try request.query.positiveInteger("bytes") ?? 1
                    let buffer = ByteBuffer(repeating: 120, count: size)
                    let isStreamed = try request.query.bool("streamed") == true
                    return isStreamed
                        ? .json(buffer: buffer) : Response(status: .ok, body: ResponseBody(byteBuffer: buffer))
                }
            ]),
        Route(
            "/test/broken", allow: "GET", access: .everyone,
            [
                .get: .init { _ in
                    .streamed { stream in
                        try await stream.write("begun")
                        try await stream.flush()
                        throw HTTPFailure.badRequest("It went wrong")
                    }
                }
            ]),
        Route(
            "/test/slow", allow: "GET", access: .everyone,
            [
                .get: .init { request in
                    try await Task.sleep(
                        for: .milliseconds(try request.query.positiveInteger("milliseconds") ?? 300))
                    return .ok()
                }
            ]),
        Route(
            "/test/feed", allow: "GET", access: .everyone,
            [
                .get: .init { request in
                    let feed = try request.server.feeds.open(for: request.channel)
                    return .streamed { stream in
                        try await stream.write("begun\n")
                        try await stream.flush()
                        let event = try await feed.wait(timeout: .seconds(60)) {
                            try await Task.sleep(for: .seconds(60))
                        }
                        try await stream.write("\(event)\n")
                    }
                }
            ]),
    ]
}
#endif
