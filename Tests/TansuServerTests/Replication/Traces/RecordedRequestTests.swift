#if TansuServer
import Foundation
import Tansu
import TansuTestSupport
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: recorded requests of CouchDB and PouchDB to this server")
struct RecordedRequestTests {
    /// Sends recorded requests to a server, and compares its answers with those of CouchDB.
    @available(macOS 14, *)
    private final class Sender: Sendable {
        private let server: RunningServer
        private let database: String
        private let transport = ClientTransport(timeout: 20)
        /// The sequences of this server by those that were recorded.
        private let sequences = Locked<[String: String]>([:])

        init(_ server: RunningServer, database: String) {
            self.server = server
            self.database = database
        }

        func send(_ requests: [RecordedRequest], compares: Bool = true) async throws {
            for request in requests {
                let (status, headers, body) = try await send(request)
                if request.endpoint == "_changes" { note(request, body) }
                guard compares else { continue }
                let name = "\(request.number) \(request.method) \(request.target)"
                #expect(status == request.status, "\(name): \(String(decoding: body.prefix(300), as: UTF8.self))")
                guard request.method != "HEAD" else { continue }
                let expected = Self.content(request.answer, request.answerHeaders)
                #expect(Self.content(body, headers) == expected, "\(name)")
            }
        }

        func send(_ request: RecordedRequest) async throws -> (Int, [String: String], [UInt8]) {
            var target = request.target
            if request.endpoint != nil {
                let rest = target.dropFirst().drop { $0 != "/" && $0 != "?" }
                target = "/\(database)\(rest)"
            }
            for (recorded, ours) in sequences.withLock({ $0 }) {
                target = target.replacingOccurrences(of: "since=\(recorded)", with: "since=\(ours)")
            }
            let authorization = "Basic \(Data("admin:admin".utf8).base64EncodedString())"
            let accepted = request.query["open_revs"] != nil ? "multipart/mixed" : "application/json"
            var call = HTTPCall(
                request.method, "http://127.0.0.1:\(server.port)\(target)",
                headers: [
                    HTTPField("authorization", authorization), HTTPField("accept", accepted),
                    HTTPField("accept-encoding", "gzip"),
                ])
            let bytes = request.body
            if !bytes.isEmpty {
                let rest = { @Sendable in
                    let rest = Locked([bytes])
                    return ByteStream { rest.withLock { $0.popLast() } }
                }
                call.body = .stream(
                    type: request.contentType ?? "application/json", length: Int64(bytes.count), rest)
            } else if ["PUT", "POST"].contains(request.method) {
                call.headers.append(HTTPField("content-type", "application/json"))
            }
            let answer = try await transport.send(call)
            let headers = Dictionary(
                answer.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            return (answer.status, headers, try await answer.body.all(limit: 1 << 24))
        }

        private func note(_ request: RecordedRequest, _ body: [UInt8]) {

            if let recorded = JSON(request.answer)?["last_seq"]?.text, let ours = JSON(body)?["last_seq"] {
                sequences.withLock { $0[recorded] = ours.text ?? "\(ours)" }
            }
        }

        /// What an answer says, without what differs from run to run.
        private static func content(_ body: [UInt8], _ headers: [String: String]) -> [String] {
            let type = headers["content-type"] ?? ""
            if type.hasPrefix("multipart/") {
                return RecordedDocuments.parts(body, type).flatMap { part in
                    content(
                        part.body, Dictionary(part.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
                }
            }
            if type.hasPrefix("application/json"), let value = JSON(body) { return ["\(value.normalized)"] }
            let plain = headers["content-encoding"] == "gzip" ? (try? gunzip(body)) ?? body : body
            return [Data(plain).base64EncodedString()]
        }
    }

    @available(macOS 14, *)
    private static func run(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "admin"]
        options.lockout.delay = .zero
        options.passwordIterations = 10
        try await RunningServer.run(options: options) { try await body($0) }
    }

    @available(macOS 14, *)
    private static func create(_ database: String, at server: RunningServer) async throws {
        let authorization = "Basic \(Data("admin:admin".utf8).base64EncodedString())"
        let call = HTTPCall(
            "PUT", "http://127.0.0.1:\(server.port)/\(database)",
            headers: [HTTPField("authorization", authorization)])
        let answer = try await ClientTransport(timeout: 20).send(call)
        #expect(answer.status == 201)
    }

    @available(macOS 14, *)
    @Test("CouchDB pushes, then it pulls the same")
    func couchDB() async throws {
        try await Self.run { server in
            try await Self.create("people", at: server)
            let sender = Sender(server, database: "people")
            try await sender.send(RecordedTrace.requests(of: "couchdb-push-only"))
            try await sender.send(RecordedTrace.requests(of: "couchdb-pull-only"))
        }
    }

    @available(macOS 14, *)
    @Test("PouchDB pushes, then it pulls the same; later changes go both ways")
    func pouchDB() async throws {
        try await Self.run { server in
            let pushed = RecordedTrace.requests(of: "pouchdb-push")
            let pulled = RecordedTrace.requests(of: "pouchdb-pull")
            // What was changed later was sent by the last request for documents.
            let later = pushed.last { $0.endpoint == "_bulk_docs" }?.number ?? 0
            // From here on the recorded source had the later changes.
            let start = 18
            let sender = Sender(server, database: "people")
            try await sender.send(pushed.filter { $0.number < 8 })
            let other = Sender(server, database: "others")
            try await Self.create("others", at: server)
            try await other.send(
                pushed.filter { $0.number < later && $0.endpoint == "_bulk_docs" }, compares: false)
            try await other.send(pulled.filter { $0.number < start })
            try await other.send(pushed.filter { $0.number == later }, compares: false)
            try await other.send(pulled.filter { $0.number >= start })
            try await sender.send(pushed.filter { $0.number >= 8 })
        }
    }

    @available(macOS 14, *)
    @Test("What PouchDB asks when the database is missing or the password wrong")
    func errors() async throws {
        try await Self.run { server in
            for request in RecordedTrace.requests(of: "pouchdb-errors") where request.status == 404 {
                let (status, _, body) = try await Sender(server, database: "missing").send(request)
                #expect(status == 404 && JSON(body) == JSON(request.answer), "\(request.target)")
            }
        }
    }
}

extension JSON {
    /// Members that differ between two runs, or two servers.
    private static let volatile: Set = [
        "seq", "last_seq", "update_seq", "purge_seq", "instance_start_time", "sizes", "uuid", "git_sha", "features",
        "vendor", "version", "cluster", "props", "disk_format_version", "compact_running", "db_name",
        // CouchDB keeps 0 where a replicator does not say it, and so would not send the attachment to one that has an
        // earlier revision; here it is the generation of the revision.
        "revpos",
    ]

    /// Without what differs from run to run, and in one order.
    fileprivate var normalized: JSON {
        switch self {
        case .object(let members):
            .object(
                members.filter { !Self.volatile.contains($0.name) }
                    .map { Member(name: $0.name, value: $0.value.normalized) }.sorted { $0.name < $1.name })
        // The order of documents is that in which a concurrent replicator sent them.
        case .array(let elements): .array(elements.map(\.normalized).sorted { "\($0)" < "\($1)" })
        default: self
        }
    }
}
#endif
