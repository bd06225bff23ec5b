#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// `/_command/changes`: what was committed, line by line.
@Suite struct CommandChangesTests {
    /// The lines of a feed that is opened now and ends with its server.
    @available(macOS 14, *)
    private static func lines(_ database: Database, _ query: String) async throws -> [BSONDocument] {
        let answer = try await RunningServer.run(database) { (server: RunningServer) async throws in
            let feed = Task { try await server.answer("GET", "/_command/changes?\(query)") }
            while try #require(server.server.context).feeds.count == 0 { await Task.yield() }
            return feed
        }.value
        #expect(answer.status == 200)
        return try answer.text.split(separator: "\n").map { try BSONDocument(extendedJSON: String($0)) }
    }

    @Test("Each change is a line, and the commit that was reached is one") @available(macOS 14, *)
    func changes() async throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        try await people.save(["_id": .int64(1), "n": 1])
        try await database.collection("others").save(["_id": 1])
        let first = try await Self.lines(database, "since=0&collection=people")
        let position = try #require(first.last?["position"]?.intValue)
        let inserted = try #require(first.first { $0["kind"] == "insert" })
        #expect(inserted["id"] == .int64(1) && inserted["after"]?.documentValue?["n"] == 1)
        #expect(!first.contains { $0["collection"] == "others" })
        try await people.save(["_id": .int64(1), "text": .string(String(repeating: "x", count: 20_000))])
        #expect(try await people.remove(id: 1))
        try await database.renameCollection("others", to: "\u{202E}")
        let next = try await Self.lines(database, "since=\(position)")
        #expect(next.compactMap { $0["kind"]?.stringValue } == ["update", "remove", "renameCollection"])
        #expect(next.first?["after"] == nil && (next.first?["bytes"]?.intValue ?? 0) > 20_000)
        #expect(next.compactMap { $0["to"] } == ["\u{202E}"])
        // Those of the library's own collections are nobody's interest.
        #expect(next.allSatisfy { $0["collection"]?.stringValue != "tansu.server" })
        let now = try await Self.lines(database, "")
        #expect(now.allSatisfy { $0["position"] != nil })
    }

    @Test("Wrong beginnings are refused, and other users than server admins") @available(macOS 14, *)
    func refused() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            for (query, status) in [("since=x", 400), ("since=-1", 400), ("since=1e3", 400), ("since=999999", 404)] {
                #expect(try await server.answer("GET", "/_command/changes?\(query)").status == status, "\(query)")
            }
            #expect(try await server.answer("POST", "/_command/changes", body: "").status == 405)
            let context = try #require(server.server.context)
            #expect(context.feeds.count == 0)
        }
        var options = ServerOptions(port: 0)
        options.admins = ["anna": "secret"]
        try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            #expect(try await server.answer("GET", "/_command/changes").status == 401)
        }
    }
}
#endif
