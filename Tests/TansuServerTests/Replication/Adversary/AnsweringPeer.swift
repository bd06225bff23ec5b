#if TansuServer
import Foundation
import TansuBSON

@testable import TansuSync

/// A database that answers what a closure says, and otherwise as an empty one that takes everything.
final class AnsweringPeer: HTTPTransport {
    struct Answer: Sendable {
        var status = 200
        var headers: [HTTPField] = []
        var bytes: [UInt8]

        init(_ text: String, status: Int = 200, headers: [HTTPField] = []) {
            self.init(bytes: Array(text.utf8), status: status, headers: headers)
        }

        init(bytes: [UInt8], status: Int = 200, headers: [HTTPField] = []) {
            self.status = status
            self.headers = headers
            self.bytes = bytes
        }
    }

    let requests = Locked<[HTTPCall]>([])
    private let answer: @Sendable (HTTPCall) async throws -> Answer?

    init(_ answer: @escaping @Sendable (HTTPCall) async throws -> Answer?) { self.answer = answer }

    /// A source with some documents: the JSON text of each without its first brace, by id and revision.
    static func source(
        _ documents: [(id: String, revision: String, text: String)],
        _ answer: @escaping @Sendable (HTTPCall) -> Answer? = { _ in nil }
    ) -> AnsweringPeer {
        AnsweringPeer { call in
            if let answer = answer(call) { return answer }
            switch call.endpoint {
            case "_changes":
                guard call.url.contains("since=0") else { return nil }
                let rows = documents.enumerated().map { index, document in
                    let id = Self.quoted(document.id)
                    return "{\"seq\":\(index + 1),\"id\":\(id),\"changes\":[{\"rev\":\"\(document.revision)\"}]}"
                }
                let list = rows.joined(separator: ",")
                return Answer("{\"results\":[\(list)],\"last_seq\":\(documents.count),\"pending\":0}")
            case "_bulk_get":
                let results = documents.map { document in
                    let id = Self.quoted(document.id)
                    let text = "{\"_id\":\(id),\"_rev\":\"\(document.revision)\",\(document.text)"
                    return "{\"id\":\(id),\"docs\":[{\"ok\":\(text)}]}"
                }
                return Answer("{\"results\":[\(results.joined(separator: ","))]}")
            default: return nil
            }
        }
    }

    static func quoted(_ text: String) -> String {
        var writer = WireJSONWriter()
        writer.string(text)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    func send(_ call: HTTPCall) async throws -> TansuSync.HTTPAnswer {
        requests.withLock { $0.append(call) }
        var body: [UInt8] = []
        switch call.body {
        case .none: break
        case .json(let bytes): body = bytes
        case .stream(_, _, let make):
            let stream = try await make()
            while try await stream.next() != nil {}
        }
        let answer = try await answer(call) ?? usual(call, body)
        let rest = Locked(answer.bytes.isEmpty ? [] : [answer.bytes])
        return TansuSync.HTTPAnswer(
            status: answer.status, headers: answer.headers, body: ByteStream { rest.withLock { $0.popLast() } })
    }

    private func usual(_ call: HTTPCall, _ body: [UInt8]) -> Answer {
        switch (call.method, call.endpoint) {
        case (_, "_changes"): return Answer("{\"results\":[],\"last_seq\":0,\"pending\":0}")
        case (_, "_revs_diff"):
            let asked = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: [String]] ?? [:]
            let missing = asked.mapValues { ["missing": $0] }
            let data = (try? JSONSerialization.data(withJSONObject: missing)) ?? Data()
            return Answer(bytes: Array(data))
        case (_, "_bulk_docs"): return Answer("[]", status: 201)
        case (_, "_ensure_full_commit"), ("PUT", _): return Answer("{\"ok\":true}", status: 201)
        default: return Answer("{\"error\":\"not_found\",\"reason\":\"missing\"}", status: 404)
        }
    }

    /// The peer of a replication, whose waits take no time.
    func peer(_ credentials: RemoteCredentials = .none, waits: Locked<[Double]>? = nil) throws -> HTTPPeer {
        let retries = RetryPolicy(sleep: { seconds in waits?.withLock { $0.append(seconds) } }, random: { 0.5 })
        return HTTPPeer(
            RemoteDatabase(
                try RemoteURL("http://127.0.0.1/people"), credentials: credentials, transport: self,
                retries: retries))
    }
}
#endif
