#if TansuServer
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import Tansu
import TansuBSON
import TansuTestSupport

@testable import TansuServer
@testable import TansuSync

/// A collection in files of its own, which the others reach as a collection or as a database of a server. It can be killed.
@available(macOS 14, *)
final class SimulatedReplica: Sendable {
    enum Kind: Sendable {
        case file
        case server
    }

    private struct Open {
        var generation: Int
        var database: Database
        var people: Database.Collection<BSONDocument>
        var replicated: ReplicatedCollection
        var responder: RequestResponder?
    }

    let number: Int
    let kind: Kind
    private let folder: URL
    private let isDated: Bool
    private let open: Locked<Open>

    init(_ number: Int, _ kind: Kind, in folder: URL, isDated: Bool = false) async throws {
        self.isDated = isDated
        self.number = number
        self.kind = kind
        self.folder = folder
        open = Locked(try await Self.open(Self.path(number, 0, folder), kind, 0, isDated))
    }

    var people: Database.Collection<BSONDocument> { open.withLock { $0.people } }
    var replicated: ReplicatedCollection { open.withLock { $0.replicated } }
    /// For the transports of a simulation, which know a server by its port.
    var url: String { "http://127.0.0.1:\(7_000 + number)/people" }

    private static func path(_ number: Int, _ generation: Int, _ folder: URL) -> String {
        folder.appendingPathComponent("replica\(number)-\(generation).tansu").path
    }

    private static func open(
        _ path: String, _ kind: Kind, _ generation: Int, _ isDated: Bool
    ) async throws -> Open {
        var options = Database.Options()
        // What is killed is the process, not the machine.
        options.durability = .process
        let database = try Database(path: path, options: options)
        let people = try database.collection("people")
        if isDated { try await database.setTimestamps(Database.Timestamps(), of: "people") }
        let replicated = try await people.enableReplication()
        var responder: RequestResponder?
        if kind == .server {
            let context = try await ServerContext(database: database, options: ServerOptions(port: 0))
            responder = RequestResponder(server: context, router: Router(ServerRoutes.all))
        }
        return Open(
            generation: generation, database: database, people: people, replicated: replicated,
            responder: responder)
    }

    /// Goes on with the files as they are at this time, as a process does that was killed and started again.
    func kill() async throws {
        let generation = open.withLock { $0.generation }
        let path = Self.path(number, generation + 1, folder)
        try copyAsKilled(Self.path(number, generation, folder), to: path)
        let next = try await Self.open(path, kind, generation + 1, isDated)
        let former = open.withLock { open in
            defer { open = next }
            return open
        }
        // A cursor may still be open; then the files go with the simulation.
        if (try? await former.database.close()) != nil {
            try FileManager.default.removeItem(atPath: Self.path(number, generation, folder))
        }
    }

    func close() { try? open.withLock { try $0.database.close() } }

    /// The answer of the server to a request.
    func answer(_ call: HTTPCall, _ body: [UInt8], _ type: String?) async throws -> TansuSync.HTTPAnswer {
        guard let responder = open.withLock({ $0.responder }), let url = URLComponents(string: call.url) else {
            throw RemoteFailure.noAnswer("No server listens there")
        }
        var head = HTTPRequest(
            method: HTTPRequest.Method(call.method) ?? .get, scheme: "http", authority: "127.0.0.1",
            path: url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? ""))
        for field in call.headers {
            if let name = HTTPTypes.HTTPField.Name(field.name) { head.headerFields[name] = field.value }
        }
        if let type { head.headerFields[.contentType] = type }
        if !body.isEmpty || ["PUT", "POST"].contains(call.method) {
            head.headerFields[.contentLength] = "\(body.count)"
        }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let response = await responder.respond(to: request, NIOAsyncTestingChannel())
        let collected = Locked<[UInt8]>([])
        try await response.body.write(Collector(bytes: collected))
        let rest = Locked(collected.withLock { $0.isEmpty ? [] : [$0] })
        return TansuSync.HTTPAnswer(
            status: response.status.code,
            headers: response.headers.map { TansuSync.HTTPField($0.name.rawName, $0.value) },
            body: ByteStream { rest.withLock { $0.popLast() } })
    }

    private struct Collector: ResponseBodyWriter {
        let bytes: Locked<[UInt8]>

        mutating func write(_ buffer: ByteBuffer) async throws {
            bytes.withLock { $0 += Array(buffer.readableBytesView) }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
#endif
