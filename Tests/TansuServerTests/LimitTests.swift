#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing
@testable import TansuServer

/// Clients that are too slow, too many, or still there when the server stops.
@Suite(.serialized) struct LimitTests {
    @available(macOS 14, *)
    private func serve<Result: Sendable>(
        _ change: (inout ServerLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningServer) async throws -> Result
    ) async throws -> Result {
        var options = ServerOptions(port: 0)
        change(&options.limits)
        return try await RunningServer.run(options: options, moreRoutes: TestRoutes.all, body)
    }

    @Test(arguments: [
        "G", "GET / HTTP/1.1\r\nHost: local",
        "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc",
        "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
    ]) @available(macOS 14, *)
    func aClientThatStopsHalfwayIsTimedOut(_ half: String) async throws {
        try await serve {
            $0.readTimeout = .milliseconds(300)
        } _: { server in
            let answers = try await server.answers(to: half)
            #expect(answers.map(\.status) == [408])
        }
    }

    @Test @available(macOS 14, *) func aHeadThatDripsIsTimedOut() async throws {
        try await serve {
            $0.readTimeout = .milliseconds(300)
        } _: { server in
            let statuses = try await server.connected { connection in
                for byte in "GET / HTTP/1.1\r\nHost: localhost".utf8 {
                    try connection.send([byte])
                    usleep(50_000)
                }
                return try RunningServer.readAnswers(connection).map(\.status)
            }
            #expect(statuses == [408])
        }
    }

    @Test @available(macOS 14, *) func anIdleConnectionIsClosed() async throws {
        try await serve {
            $0.idleTimeout = .seconds(1)
        } _: { server in
            #expect(try await server.answers(to: "").isEmpty)
            // After a request too; a request that takes longer than that is not idle.
            let answers = try await server.answers(
                to: "GET /test/slow?milliseconds=1500 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(answers.map(\.status) == [200])
        }
    }

    @Test @available(macOS 14, *) func aConnectionTooManyIsTurnedAway() async throws {
        try await serve {
            $0.connections = 2
        } _: { server in
            let request = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let answers = try await server.connected { [port = server.port] first in
                try first.send(request)
                let one = try RunningServer.readAnswers(first, count: 1)
                let second = try HTTPConnection(port: port)
                try second.send(request)
                let two = try RunningServer.readAnswers(second, count: 1)
                let third = try HTTPConnection(port: port)
                try third.send(request)
                return one + two + (try RunningServer.readAnswers(third))
            }
            #expect(answers.map(\.status) == [200, 200, 503])
            #expect(answers.last?[header: "retry-after"] != nil)
            // Those that have left make space.
            var status = 503
            while status == 503 { status = try await server.answer("GET", "/").status }
            #expect(status == 200)
        }
    }

    @Test @available(macOS 14, *) func aFeedTooManyIsRefusedAndAClientThatLeavesEndsItsFeed() async throws {
        try await serve {
            $0.feeds = 1
        } _: { server in
            let feeds = try #require(server.server.context).feeds
            let refused = try await server.connected { [port = server.port] first in
                try first.send(Array("GET /test/feed HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                _ = try first.read(through: Array("begun\n".utf8))
                let second = try HTTPConnection(port: port)
                try second.send(Array("GET /test/feed HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                return try RunningServer.readAnswers(second, count: 1)
            }
            #expect(refused.map(\.status) == [503])
            #expect(refused.first?[header: "retry-after"] != nil)
            // The first client is gone.
            while feeds.count > 0 { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test @available(macOS 14, *) func stoppingFinishesWhatHasBegun() async throws {
        let (slow, feed) = try await serve { server in
            let slow = Task { try await server.answer("GET", "/test/slow") }
            let feed = Task { try await server.answer("GET", "/test/feed") }
            let idle = Task { try await server.answers(to: "") }
            let context = try #require(server.server.context)
            while context.connections.count < 3 || context.feeds.count < 1 {
                try await Task.sleep(for: .milliseconds(5))
            }
            try await Task.sleep(for: .milliseconds(50))
            _ = idle
            // The server stops when this returns.
            return (slow, feed)
        }
        #expect(try await slow.value.status == 200)
        #expect(try await feed.value.text == "begun\nserverStopping\n")
    }

    /// More than the system takes at once, which is lost when a connection is closed too early.
    private static let largeSize = 12_000_000

    @Test(arguments: [false, true], ["Connection: close", "Connection: keep-alive"])
    @available(macOS 14, *) func aLargeAnswerArrivesAsAWhole(isStreamed: Bool, field: String) async throws {
        try await serve { server in
            let sizes = try await server.connected { connection in
                let path = "/test/large?bytes=\(Self.largeSize)&streamed=\(isStreamed)"
                try connection.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n\r\n".utf8))
                // The server is done long before the client reads.
                Thread.sleep(forTimeInterval: 0.5)
                return try RunningServer.readAnswers(connection, count: 1).map(\.body.count)
            }
            #expect(sizes == [Self.largeSize])
        }
    }

    @Test(arguments: [false, true])
    @available(macOS 14, *) func stoppingDoesNotCutALargeAnswer(isStreamed: Bool) async throws {
        let client = try await serve { server in
            let begun = Locked(false)
            let client = Task {
                try await server.connected { connection in
                    let path = "/test/large?bytes=\(Self.largeSize)&streamed=\(isStreamed)"
                    try connection.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    var answer = try HTTPAnswer(headOf: connection)
                    begun.withLock { $0 = true }
                    Thread.sleep(forTimeInterval: 0.5)
                    try answer.readBody(of: connection, method: "GET")
                    return answer.body.count
                }
            }
            while !begun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
            return client
        }
        #expect(try await client.value == Self.largeSize)
    }

    @Test @available(macOS 14, *) func stoppingDoesNotWaitForeverForAClient() async throws {
        let stuck = try await serve {
            $0.shutdownTimeout = .milliseconds(300)
        } _: { server in
            let half = "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc"
            let stuck = Task { try await server.answers(to: half) }
            let context = try #require(server.server.context)
            while context.connections.count < 1 { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(50))
            return stuck
        }
        // It was cut off before its time for the body was over, which would have been answered.
        #expect(try await stuck.value.isEmpty)
    }

    @Test @available(macOS 14, *) func stoppingUnderLoadLosesNoAnswer() async throws {
        let clients = try await serve { server in
            let clients = (0..<8).map { _ in
                Task {
                    try await server.connected { connection in
                        var whole = 0
                        while true {
                            try connection.send(
                                Array("GET /test/stream?parts=50 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                            guard var answer = try? HTTPAnswer(headOf: connection) else { return whole }
                            // An answer that has begun comes to its end.
                            try answer.readBody(of: connection, method: "GET")
                            whole += 1
                            if answer[header: "connection"] == "close" { return whole }
                        }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(300))
            return clients
        }
        for client in clients { #expect(try await client.value > 0) }
    }

    @Test @available(macOS 14, *) func aThousandIdleConnectionsAreNoBurden() async throws {
        try await serve { server in
            let answers = try await server.connected { [port = server.port] first in
                let connections = try (0..<1_000).map { _ in try HTTPConnection(port: port) }
                let request = Array("GET /_up HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                for connection in connections { try connection.send(request) }
                let answers = try connections.flatMap { try RunningServer.readAnswers($0, count: 1) }
                try first.send(request)
                return answers + (try RunningServer.readAnswers(first, count: 1))
            }
            #expect(answers.count == 1_001)
            #expect(answers.allSatisfy { $0.status == 200 })
        }
    }
}
#endif
