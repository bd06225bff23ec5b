#if TansuServer
import Foundation
import TansuBSON
@testable import TansuSync

/// A transport that notes requests, and answers some of them itself or breaks them.
final class FaultyTransport: HTTPTransport {
    enum Fault {
        /// An answer that the server never gave.
        case answer(Int, [HTTPField] = [], String = "{\"error\":\"test\",\"reason\":\"a fault\"}")
        /// The server gets nothing.
        case noAnswer
        /// The server does what was asked, but the answer is lost.
        case lostAnswer
        /// The answer ends after some bytes.
        case cut(Int)
    }

    let requests = Locked<[HTTPCall]>([])
    private let transport: any HTTPTransport
    private let fault: @Sendable (HTTPCall, Int) -> Fault?

    /// - Parameter fault: What happens to a request, which is given with its number from 1 up.
    init(_ transport: any HTTPTransport, _ fault: @escaping @Sendable (HTTPCall, Int) -> Fault? = { _, _ in nil }) {
        self.transport = transport
        self.fault = fault
    }

    func send(_ call: HTTPCall) async throws -> TansuSync.HTTPAnswer {
        let number = requests.withLock { requests in
            requests.append(call)
            return requests.count
        }
        switch fault(call, number) {
        case nil: return try await transport.send(call)
        case .answer(let status, let headers, let text):
            let rest = Locked([Array(text.utf8)])
            return TansuSync.HTTPAnswer(
                status: status, headers: headers, body: ByteStream { rest.withLock { $0.popLast() } })
        case .noAnswer: throw RemoteFailure.noAnswer("The test breaks the connection")
        case .lostAnswer:
            let answer = try await transport.send(call)
            while try await answer.body.next() != nil {}
            throw RemoteFailure.noAnswer("The test loses the answer")
        case .cut(let count):
            let answer = try await transport.send(call)
            let left = Locked(count)
            return TansuSync.HTTPAnswer(
                status: answer.status, headers: answer.headers,
                body: ByteStream {
                    guard let bytes = try await answer.body.next() else { return nil }
                    let part = left.withLock { left in
                        defer { left -= min(left, bytes.count) }
                        return bytes.prefix(left)
                    }
                    guard !part.isEmpty else { throw RemoteFailure.noAnswer("The test cuts the answer") }
                    return Array(part)
                })
        }
    }
}

extension HTTPCall {
    /// The part of the path after the database, such as `_bulk_docs`, without the query.
    var endpoint: String {
        let path = URLComponents(string: url)?.percentEncodedPath ?? ""
        return path.split(separator: "/", maxSplits: 1).dropFirst().first.map { String($0) } ?? ""
    }

    var jsonSize: Int { if case .json(let bytes) = body { bytes.count } else { 0 } }
}
#endif
