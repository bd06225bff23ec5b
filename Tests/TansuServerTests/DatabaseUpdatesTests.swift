#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// `_db_updates`, as CouchDB 3.5 answers it.
@Suite struct DatabaseUpdatesTests {
    private static let json = ["Content-Type": "application/json"]

    /// The rows of an answer as "type name".
    private static func rows(_ answer: HTTPAnswer) -> [String] {
        answer.text.matches(of: /{"db_name":"([^"]*)","type":"([a-z]*)","seq":"[0-9]+-[0-9a-f]{32}"}/)
            .map { "\($0.2) \($0.1)" }
    }

    private static func last(_ answer: HTTPAnswer) throws -> String {
        String(try #require(answer.text.firstMatch(of: /"last_seq":"([^"]*)"}\n$/)).1)
    }

    @Test("Each kind of change of a database is listed once, where the newest one was")
    @available(macOS 14, *)
    func normal() async throws {
        let database = try Database(.memory)
        try await database.collection("app").save(["_id": "x"])
        try await database.ensureCollection("empty")
        try await RunningServer.run(database) { (server: RunningServer) async throws in
            func updates(_ query: String = "") async throws -> HTTPAnswer {
                try await server.answer("GET", "/_db_updates\(query)")
            }
            for path in ["/a", "/b", "/a/x", "/b/y", "/a/_local/l", "/a/z"] {
                #expect(try await server.answer("PUT", path, Self.json, body: "{}").status == 201)
            }
            #expect(try await server.answer("DELETE", "/b").status == 200)
            // A revision that does not win.
            let pushed = #"{"docs":[{"_id":"x","_rev":"1-0"}],"new_edits":false}"#
            #expect(try await server.answer("POST", "/a/_bulk_docs", Self.json, body: pushed).status == 201)
            let first = try await updates()
            #expect(first.status == 200 && first.text.hasPrefix("{\"results\":[\n{\"db_name\":"))
            #expect(first[header: "content-type"] == "application/json")
            let rows = Self.rows(first)
            #expect(rows.prefix(4).contains("created app") && rows.contains("updated app"))
            #expect(rows.contains("created empty") && !rows.contains("updated empty"))
            #expect(rows.suffix(5) == ["created a", "created b", "updated b", "deleted b", "updated a"], "\(rows)")
            #expect(Set(rows.map { BytewiseText($0) }).count == rows.count)
            let end = try Self.last(first)
            #expect(Self.rows(try await updates("?since=\(end)")) == [])
            #expect(Self.rows(try await updates("?since=now")) == [])
            #expect(Self.rows(try await updates("?descending=true&limit=2")) == ["updated a", "deleted b"])
            var page = try await updates("?limit=1")
            var paged = Self.rows(page)
            while !Self.rows(page).isEmpty {
                page = try await updates("?limit=1&since=\(try Self.last(page))")
                paged += Self.rows(page)
            }
            #expect(paged == rows)
            #expect(Self.rows(try await updates("?limit=0")) == [])
            let tag = try #require(first[header: "etag"])
            #expect(try await server.answer("GET", "/_db_updates", ["If-None-Match": tag]).status == 304)
            // Saves of the app are told, and its renaming and dropping.
            try await database.collection("app").save(["_id": "y"])
            try await database.renameCollection("app", to: "other")
            try await database.dropCollection("empty")
            let more = try await updates("?since=\(end)")
            #expect(Self.rows(more) == ["updated app", "deleted app", "created other", "deleted empty"])
            #expect(try await server.answer("GET", "/_db_updates", ["If-None-Match": tag]).status == 200)
            for query in ["?feed=x", "?since=x", "?limit=x", "?timeout=-1", "?heartbeat=0"] {
                #expect(try await updates(query).status == 400, "\(query)")
            }
            let posted = try await server.answer("POST", "/_db_updates", Self.json, body: "{}")
            #expect(posted.status == 405 && posted[header: "allow"] == "GET")
            // Sequences of another run of the server are read as the beginning.
            let old = try await updates("?since=3-\(String(repeating: "0", count: 32))")
            #expect(Self.rows(old).contains("created a"))
        }
    }

    @Test("Feeds send what there is, then what comes", arguments: ["longpoll", "continuous", "eventsource"])
    @available(macOS 14, *)
    func feeds(_ feed: String) async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/a").status == 201)
            let before = try await server.answer("GET", "/_db_updates")
            let end = try Self.last(before)
            let all = try await server.answer("GET", "/_db_updates?feed=\(feed)&timeout=1")
            #expect(Self.rows(all) == Self.rows(before))
            let none = try await server.answer("GET", "/_db_updates?feed=\(feed)&timeout=1&since=\(end)")
            #expect(none.status == 200 && Self.rows(none) == [])
            if feed == "eventsource" {
                #expect(none[header: "content-type"] == "text/event-stream" && none.text.isEmpty)
                #expect(all.text.hasPrefix("data: {\"db_name\":") && all.text.contains("}\nid: \""))
            } else {
                #expect(try Self.last(none) == end && Self.last(all) == end)
            }
            // It waits, and heartbeats come meanwhile.
            let answer = try await server.connected { connection in
                func send(_ connection: HTTPConnection, _ line: String) throws -> HTTPAnswer {
                    try connection.send(Array("\(line) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    return try HTTPAnswer(headOf: connection)
                }
                var answer = try send(connection, "GET /_db_updates?feed=\(feed)&heartbeat=5&since=\(end)&limit=2")
                if feed == "longpoll" { _ = try connection.read(through: Array("[\n\r\n".utf8)) }
                let heartbeat = feed == "eventsource" ? "event: heartbeat\ndata: \n\n\r\n" : "1\r\n\n\r\n"
                _ = try connection.read(through: Array(heartbeat.utf8))
                for name in feed == "longpoll" ? ["b"] : ["b", "c"] {
                    let created = try send(HTTPConnection(port: server.port), "PUT /\(name)")
                    #expect(created.status == 201)
                }
                try answer.readBody(of: connection, method: "GET")
                return answer
            }
            #expect(Self.rows(answer) == (feed == "longpoll" ? ["created b"] : ["created b", "created c"]))
        }
    }

    @Test("They are for server admins, and end with the server")
    @available(macOS 14, *)
    func access() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret"]
        let answer = try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            #expect(try await server.answer("GET", "/_db_updates").status == 401)
            #expect(try await server.answer("GET", "/_db_updates?feed=continuous").status == 401)
            let basic = ["Authorization": "Basic \(Data("admin:secret".utf8).base64EncodedString())"]
            let feed = Task { try await server.answer("GET", "/_db_updates?feed=continuous&since=now", basic) }
            while try #require(server.server.context).feeds.count == 0 { await Task.yield() }
            return feed
        }.value
        #expect(answer.status == 200 && Self.rows(answer) == [])
        _ = try Self.last(answer)
    }

    @Test("What nobody asks for is skipped, and what was asked for is read on")
    func tidying() async throws {
        let database = try Database(.memory)
        let updates = try DatabaseUpdates(database)
        try await database.collection("a").save(["_id": "x"])
        updates.tidy()
        try await database.collection("b").save(["_id": "x"])
        let position = try await updates.position()
        #expect(position.last == 6)
        try await database.dropCollection("a")
        updates.tidy()
        let page = try await updates.page(after: position.last, limit: 10, isDescending: false)
        #expect(page.rows.map { "\($0.kind) \($0.name)" } == ["deleted a"])
        #expect(try await updates.position().instance == position.instance)
    }
}
#endif
