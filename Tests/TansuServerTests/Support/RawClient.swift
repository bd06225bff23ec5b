#if TansuServer
import Foundation
@testable import TansuServer

@available(macOS 14, *)
extension RunningServer {
    /// Sends bytes on a new connection, then reads answers until the server closes it, or `count` of them.
    func answers(to request: String, count: Int = .max) async throws -> [HTTPAnswer] {
        try await connected { connection in
            try connection.send(Array(request.utf8))
            return try Self.readAnswers(connection, count: count)
        }
    }

    /// The answer to one request, whose connection the server then closes or not.
    func answer(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil
    ) async throws -> HTTPAnswer {
        try await connected { connection in
            var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
            try connection.send(Array((text + "\r\n" + (body ?? "")).utf8))
            var answer = try HTTPAnswer(headOf: connection)
            try answer.readBody(of: connection, method: method)
            return answer
        }
    }

    /// Calls `body` with a connection, on a thread of its own because it blocks.
    func connected<Result: Sendable>(
        timeout: Int = 20, _ body: @escaping @Sendable (HTTPConnection) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [port] in
                continuation.resume(
                    with: Swift.Result { try body(HTTPConnection(port: port, timeout: timeout)) })
            }
        }
    }

    /// Reads until the end of the connection, which may come in place of an answer.
    static func readAnswers(_ connection: HTTPConnection, count: Int = .max) throws -> [HTTPAnswer] {
        var answers: [HTTPAnswer] = []
        while answers.count < count {
            guard var answer = try? HTTPAnswer(headOf: connection) else { break }
            try answer.readBody(of: connection, method: "GET")
            answers.append(answer)
        }
        return answers
    }
}

extension HTTPAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }
}
#endif
