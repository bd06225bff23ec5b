#if TansuServer
@testable import Tansu
import TansuBSON
import Testing
@testable import TansuServer
@testable import TansuSync

/// What is sent on a connection, well-formed or not, and what comes back.
@Suite struct ConnectionTests {
    @available(macOS 14, *)
    private func serve<Result: Sendable>(
        _ change: (inout ServerLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningServer) async throws -> Result
    ) async throws -> Result {
        var options = ServerOptions(port: 0)
        change(&options.limits)
        return try await RunningServer.run(options: options, moreRoutes: TestRoutes.all, body)
    }

    @Test @available(macOS 14, *) func requestsOfOneConnectionAreAnsweredInOrder() async throws {
        try await serve { server in
            let request = "GET /test/stream?parts=%d HTTP/1.1\r\nHost: x\r\n\r\n"
            let requests = ["localhost"].flatMap { host in
                (1...20).map { request.replacing("%d", with: "\($0)").replacing("Host: x", with: "Host: \(host)") }
            }
            let answers = try await server.answers(to: requests.joined(), count: 20)
            #expect(answers.map { $0.text.split(separator: "\n").count } == Array(1...20))
        }
    }

    @Test @available(macOS 14, *) func theAnswerToHeadHasNoBody() async throws {
        try await serve { server in
            // The second answer would be garbage if the first had a body.
            let requests = ["/", "/test/stream", "/nothing"].map { path in
                "HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            }
            let heads = try await server.connected { connection in
                try connection.send(Array(requests.joined().utf8))
                return try requests.map { _ in try HTTPAnswer(headOf: connection) }
            }
            #expect(heads.map(\.status) == [200, 200, 404])
            #expect(heads[0][header: "content-length"] != nil)
            #expect(heads[1][header: "transfer-encoding"] == nil)
        }
    }

    @Test @available(macOS 14, *) func anHTTP10ClientGetsNoChunks() async throws {
        try await serve { server in
            let answers = try await server.answers(to: "GET /test/stream HTTP/1.0\r\n\r\n")
            #expect(answers.count == 1)
            #expect(answers.first?.text == "part 0\npart 1\npart 2\n")
            #expect(answers.first?[header: "transfer-encoding"] == nil)
            #expect(answers.first?[header: "connection"] == "close")
        }
    }

    @Test @available(macOS 14, *) func aConnectionEndsWhenTheClientWantsSo() async throws {
        try await serve { server in
            let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n"
            let answers = try await server.answers(to: request + request)
            #expect(answers.map(\.status) == [200])
        }
    }

    @Test @available(macOS 14, *) func aBodyArrivesInWholeHoweverItIsSent() async throws {
        try await serve { server in
            let chunked = "Transfer-Encoding: chunked\r\n\r\n3\r\n\"ab\r\n2;x=y\r\nc\"\r\n0\r\n\r\n"
            let answers = try await server.answers(
                to: "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\n" + chunked
                    + "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n\"d\"",
                count: 2)
            #expect(answers.map(\.text) == ["\"abc\"", "\"d\""])
        }
    }

    /// A client that is stopped, whose network ends, or that counted wrongly.
    @Test(arguments: ["Content-Length: 100\r\n\r\n{\"a\":1}", "Transfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n"])
    @available(macOS 14, *) func aBodyThatIsCutIsNone(rest: String) async throws {
        try await serve { server in
            #expect(try await server.answer("PUT", "/people").status == 201)
            let stored = try await server.answer("PUT", "/people/a/file", body: "All of the file").text
            let revision = try #require(try BSONDocument(extendedJSON: stored)["rev"]?.stringValue)
            let requests = [
                "PUT /people/b", "PUT /people/c/file", "PUT /people/a/file?rev=\(revision)", "POST /people/_bulk_docs",
                "POST /people", "PUT /test/echo",
            ]
            for request in requests {
                let text = "\(request) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(rest)"
                // It reads on.
                let answers = try await server.connected { connection in
                    try connection.send(Array(text.utf8))
                    connection.endSending()
                    return try RunningServer.readAnswers(connection)
                }
                #expect(answers.map(\.status) == [400], "\(request)")
                // It waits for the answer to the request before.
                let both = try await server.connected { connection in
                    try connection.send(Array("GET /test/slow HTTP/1.1\r\nHost: localhost\r\n\r\n\(text)".utf8))
                    connection.endSending()
                    return try RunningServer.readAnswers(connection)
                }
                #expect(both.first?.status == 200 && both.count <= 2 && both.last?.status != 201, "\(request)")
                // It is gone.
                try await server.connected { try $0.send(Array(text.utf8)) }
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await server.answer("GET", "/people/_all_docs").text.contains("\"total_rows\":1,"))
            #expect(try await server.answer("GET", "/people/a/file").text == "All of the file")
        }
    }

    @Test @available(macOS 14, *) func aClientThatAsksWhetherToSendIsAnswered() async throws {
        try await serve {
            $0.requestBytes = 100; $0.attachmentBytes = 100
        } _: { server in
            let head = "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            let interim = try await server.connected { connection in
                try connection.send(Array("\(head)Content-Length: 2\r\n\r\n".utf8))
                let interim = String(decoding: try connection.read(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
                try connection.send(Array("{}".utf8))
                var answer = try HTTPAnswer(headOf: connection)
                try answer.readBody(of: connection, method: "PUT")
                return (interim, answer.text)
            }
            #expect(interim.0.hasPrefix("HTTP/1.1 100 "))
            #expect(interim.1 == "{}")
            // The body is never sent.
            let answers = try await server.answers(to: "\(head)Content-Length: 1000\r\n\r\n")
            #expect(answers.map(\.status) == [413])
        }
    }

    @Test @available(macOS 14, *) func aBodyThatIsTooLargeIsRefusedWithoutReadingIt() async throws {
        try await serve {
            $0.requestBytes = 1_000; $0.attachmentBytes = 1_000
        } _: { server in
            let start = "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\n"
            let announced = try await server.answers(to: start + "Content-Length: 100000000000\r\n\r\nabc")
            #expect(announced.map(\.status) == [413])
            let chunk = "200\r\n" + String(repeating: "x", count: 0x200) + "\r\n"
            let chunked = start + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 100)
            let answers = try await server.answers(to: chunked)
            #expect(answers.map(\.status) == [413])
            #expect(answers.first?.text.contains("too_large") == true)
        }
    }

    @Test @available(macOS 14, *) func aCompressedBodyCountsByItsPlainBytes() async throws {
        try await serve {
            $0.requestBytes = 10_000
        } _: { server in
            func send(_ bytes: [UInt8], _ encoding: String = "gzip") async throws -> HTTPAnswer? {
                try await server.connected { connection in
                    let head = "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: \(encoding)\r\n"
                    try connection.send(Array("\(head)Content-Length: \(bytes.count)\r\n\r\n".utf8) + bytes)
                    return try RunningServer.readAnswers(connection, count: 1).first
                }
            }
            func gzipped(_ bytes: [UInt8]) throws -> [UInt8] {
                var out: [UInt8] = []
                try GzipStream(compressing: true).compress(bytes, isLast: true) { out += $0 }
                return out
            }
            let small = try gzipped(Array(#"{"a":1}"#.utf8))
            #expect(try await send(small)?.text == #"{"a":1}"#)
            #expect(try await send(gzipped([UInt8](repeating: 0x20, count: 5_000_000)))?.status == 413)
            #expect(try await send(Array(small.dropLast(3)))?.status == 400)
            #expect(try await send(Array(#"{"a":1}"#.utf8))?.status == 400)
            #expect(try await send(small, "deflate")?.status == 415)
        }
    }

    @Test @available(macOS 14, *) func aRefusedRequestDoesNotBecomeTheNextOne() async throws {
        try await serve { server in
            let inner = "GET /test/echo HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let answers = try await server.answers(
                to: "PUT /test/unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + inner)
            #expect(answers.map(\.status) == [400])
        }
    }

    @Test(arguments: [100, 100_000]) @available(macOS 14, *)
    func aHeadThatIsTooLargeIsRefused(_ count: Int) async throws {
        try await serve {
            $0.headBytes = 8_000
        } _: { server in
            let field = "X-Field-%d: " + String(repeating: "a", count: 10_000 / count + 10) + "\r\n"
            let fields = (0..<count).map { field.replacing("%d", with: "\($0)") }.joined()
            let answers = try await server.answers(to: "GET / HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n")
            // The server may have closed the connection before all of it was sent.
            #expect(answers.map(\.status) == [431])
        }
    }

    @Test @available(macOS 14, *) func aURLThatIsTooLongIsRefused() async throws {
        try await serve {
            $0.headBytes = 8_000
        } _: { server in
            let path = "/" + String(repeating: "a", count: 20_000)
            let answers = try await server.answers(to: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(answers.count == 1)
            #expect([414, 431].contains(answers.first?.status))
        }
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}", "hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\r\n\r\n\r\n\0\0\0",
        "GET / HTTP/1.1\r\nNo colon\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c\0d\r\n\r\n",
        "PUT /test/echo HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        "PUT /test/echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "PUT /test/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "PUT /test/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PUT /test/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ]) @available(macOS 14, *)
    func garbageIsRefusedAndTheServerLives(_ garbage: String) async throws {
        try await serve {
            $0.readTimeout = .milliseconds(500)
        } _: { server in
            let answers = try await server.answers(to: garbage)
            #expect(answers.count <= 1)
            #expect(answers.allSatisfy { (400..<500).contains($0.status) })
            #expect(try await server.answer("GET", "/").status == 200)
        }
    }

    /// Two readings of one request must be impossible: where another server stands before this one, a second reading would be
    /// somebody else's request.
    @Test(arguments: [
        "Content-Length: 4\r\nContent-Length: 40", "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked", "Transfer-Encoding : chunked", "Content-Length: 4, 40", "Content-Length: +4",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked, x",
    ]) @available(macOS 14, *)
    func aBodyWithTwoLengthsIsRefused(_ headers: String) async throws {
        try await serve {
            $0.readTimeout = .milliseconds(500)
        } _: { server in
            let smuggled = "0\r\n\r\nGET /test/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let answers = try await server.answers(
                to: "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n\r\n" + smuggled)
            #expect(answers.allSatisfy { !$0.text.contains("part 0") })
            // 501: a coding that the server does not know.
            let status = answers.first?.status ?? 400
            #expect((400..<500).contains(status) || status == 501)
        }
    }

    @Test @available(macOS 14, *) func anUnknownMethodIsNotAllowed() async throws {
        try await serve { server in
            let answers = try await server.answers(to: "FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(answers.map(\.status) == [405])
            #expect(answers.first?[header: "allow"] == "GET,HEAD")
        }
    }

    @Test @available(macOS 14, *) func anAnswerThatFailsHalfwayIsSeenAsSuch() async throws {
        try await serve { server in
            let isWhole = try await server.connected { connection in
                try connection.send(Array("GET /test/broken HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                var answer = try HTTPAnswer(headOf: connection)
                do {
                    try answer.readBody(of: connection, method: "GET")
                    return true
                } catch {
                    return false
                }
            }
            #expect(!isWhole)
        }
    }
}
#endif
