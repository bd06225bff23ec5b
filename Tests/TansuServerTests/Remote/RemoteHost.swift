#if TansuServer
import Foundation
import Tansu
import TansuBSON

@testable import TansuServer
@testable import TansuSync

/// A server with the collection `people`, and what asks it for documents.
@available(macOS 14, *)
struct RemoteHost: Sendable {
    let server: RunningServer
    /// The collection of the server.
    let far: Database.Collection<BSONDocument>
    var url: String { "http://127.0.0.1:\(server.port)/people" }

    static func run(
        options: ServerOptions = ServerOptions(port: 0),
        _ body: @escaping @Sendable (RemoteHost) async throws -> Void
    ) async throws {
        let database = try Database(.memory)
        let far = try database.collection("people")
        try await far.enableReplication()
        try await RunningServer.run(database, options: options) { try await body(RemoteHost(server: $0, far: far)) }
    }

    /// A remote collection whose waits take no time.
    func people<Element: Codable & Sendable>(
        of type: Element.Type = BSONDocument.self, credentials: RemoteCredentials = .none,
        through transport: (any HTTPTransport)? = nil, waits: Locked<Int>? = nil,
        _ change: (inout RemoteOptions) -> Void = { _ in }
    ) throws -> RemoteCollection<Element> {
        try Self.people(url, of: type, credentials: credentials, through: transport, waits: waits, change)
    }

    static func people<Element: Codable & Sendable>(
        _ url: String, of type: Element.Type, credentials: RemoteCredentials = .none,
        through transport: (any HTTPTransport)? = nil, waits: Locked<Int>? = nil,
        _ change: (inout RemoteOptions) -> Void = { _ in }
    ) throws -> RemoteCollection<Element> {
        var options = RemoteOptions()
        change(&options)
        let retries = RetryPolicy(sleep: { _ in waits?.withLock { $0 += 1 } }, random: { 0.5 })
        return try RemoteCollection(
            url: url, of: type, credentials, options, transport ?? ClientTransport(timeout: 20), retries)
    }
}

/// The `_id`s of documents, sorted.
func sortedIDs(_ documents: [BSONDocument]) -> [String] {
    documents.map { $0["_id"]?.stringValue ?? "none" }.sorted()
}
#endif
