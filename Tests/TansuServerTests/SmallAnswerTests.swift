#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// Small things that clients of CouchDB 3.5 rely on, found by sending the same requests to both.
@Suite struct SmallAnswerTests {
    private static let json = ["Content-Type": "application/json"]

    private static func secured() -> ServerOptions {
        var options = ServerOptions(port: 0)
        options.admins = ["root": "secret"]
        options.passwordIterations = 1
        return options
    }

    private static func headers(_ credentials: String) -> [String: String] {
        json.merging(["Authorization": "Basic " + Data(credentials.utf8).base64EncodedString()]) { $1 }
    }

    /// A database `d` of which the account "anna" is a member or not, and the admin.
    private static func makeDatabase(_ server: RunningServer, _ members: String) async throws {
        let root = headers("root:secret")
        let account = #"{"name":"anna","type":"user","roles":[],"password":"pw"}"#
        #expect(try await server.answer("PUT", "/_users/org.couchdb.user:anna", root, body: account).status == 201)
        #expect(try await server.answer("PUT", "/d", root).status == 201)
        #expect(try await server.answer("PUT", "/d/_security", root, body: members).status == 200)
    }

    @Test("A weak tag, as proxies make it, is that of the same answer")
    @available(macOS 14, *)
    func weakTags() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            let inline = #"{"_attachments":{"note":{"content_type":"text/plain","data":"YWJj"}}}"#
            #expect(try await server.answer("PUT", "/d/a", Self.json, body: inline).status == 201)
            #expect(try await server.answer("PUT", "/d/_local/l", Self.json, body: "{}").status == 201)
            for path in ["/d/a", "/d/a/note", "/d/_local/l", "/d/_changes", "/_all_dbs", "/_utils/app.js"] {
                let tag = try #require(try await server.answer("GET", path)[header: "etag"])
                for given in ["W/\(tag)", "\"x\", W/\(tag)", tag, "*"] {
                    let again = try await server.answer("GET", path, ["If-None-Match": given])
                    #expect(again.status == 304 && again.body.isEmpty, "\(path) \(given)")
                }
                for given in ["W/\"x\"", "W/", "w/\(tag)", "W/W/\(tag)"] {
                    #expect(try await server.answer("GET", path, ["If-None-Match": given]).status == 200)
                }
            }
        }
    }

    @Test("A document that is posted without its id is a new one, whatever revision it has")
    @available(macOS 14, *)
    func copies() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            let made = try await server.answer("PUT", "/d/a", Self.json, body: #"{"n":1}"#).text
            let revision = try #require(made.firstMatch(of: /"rev":"([^"]*)"/)?.1)
            for members in [
                #""_rev":"\#(revision)""#, #""_rev":"1-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb""#,
                #""_revisions":{"start":3,"ids":["a","b","c"]}"#,
            ] {
                let posted = try await server.answer("POST", "/d", Self.json, body: "{\(members),\"n\":2}")
                #expect(posted.status == 201 && posted.text.contains(#""rev":"1-"#), "\(posted.text)")
                let id = try #require(posted.text.firstMatch(of: /"id":"([^"]*)"/)?.1)
                let copy = try await server.answer("GET", "/d/\(id)?revs=true").text
                #expect(copy.contains(#""n":2"#) && copy.contains(#""start":1"#), "\(copy)")
                // With its id it is an edit.
                let named = try await server.answer("POST", "/d", Self.json, body: "{\"_id\":\"x\",\(members)}")
                #expect(named.status == 409 || members.contains("_revisions"), "\(named.text)")
            }
        }
    }

    @Test("Only server admins purge: admins of a database cannot remove what replicas would miss")
    @available(macOS 14, *)
    func purging() async throws {
        try await RunningServer.run(options: Self.secured()) { (server: RunningServer) async throws in
            let (root, anna) = (Self.headers("root:secret"), Self.headers("anna:pw"))
            try await Self.makeDatabase(server, #"{"members":{"names":["anna"]},"admins":{"names":["anna"]}}"#)
            #expect(try await server.answer("PUT", "/d/_revs_limit", anna, body: "5").status == 200)
            for (method, path, body, status) in [
                ("POST", "/d/_purge", "{}", 201), ("PUT", "/d/_purged_infos_limit", "5", 200),
                ("GET", "/d/_purged_infos_limit", nil, 200),
            ] {
                let refused = try await server.answer(method, path, anna, body: body)
                #expect(refused.status == 401 && refused.text.contains("You are not a server admin."), "\(path)")
                #expect(try await server.answer(method, path, root, body: body).status == status)
            }
        }
    }

    @Test("A replication that a server forbids is forbidden")
    @available(macOS 14, *)
    func forbiddenReplication() async throws {
        try await RunningServer.run(options: Self.secured()) { (server: RunningServer) async throws in
            try await Self.makeDatabase(server, #"{"members":{"names":["bob"]},"admins":{}}"#)
            #expect(try await server.answer("PUT", "/d2", Self.headers("root:secret")).status == 201)
            let host = "127.0.0.1:\(server.port)"
            let body = #"{"source":"http://anna:pw@\#(host)/d","target":"http://root:secret@\#(host)/d2"}"#
            let answer = try await server.answer("POST", "/_replicate", Self.headers("anna:pw"), body: body)
            #expect(answer.status == 403 && answer.text.contains(#""error":"forbidden""#), "\(answer.text)")
        }
    }

    @Test("A document that violates the schema of its collection is forbidden, and the others of a bulk are written")
    @available(macOS 14, *)
    func schema() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database) { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            try await database.setSchema(DocumentSchema(["properties": ["n": ["minimum": 0]]]), for: "d")
            let put = try await server.answer("PUT", "/d/a", Self.json, body: #"{"n":-1}"#)
            #expect(put.status == 403 && put.text.contains(#""error":"forbidden""#), "\(put.text)")
            #expect(put.text.contains("n: minimum"), "\(put.text)")
            let docs = #"[{"_id":"a","n":1},{"_id":"b","n":-1},{"_id":"c","n":2}]"#
            let bulk = try await server.answer("POST", "/d/_bulk_docs", Self.json, body: #"{"docs":\#(docs)}"#)
            let rows = try BSONDocument(extendedJSON: #"{"v":\#(bulk.text)}"#)["v"]?.arrayValue
            let bulkErrors = rows?.compactMap(\.documentValue).map { $0["error"]?.stringValue }
            #expect(bulk.status == 201 && bulkErrors == [nil, "forbidden", nil], "\(bulk.text)")
            let revisions = #"[{"_id":"d","_rev":"1-a","n":-1},{"_id":"e","_rev":"1-a","n":1}]"#
            let pushed = #"{"new_edits":false,"docs":\#(revisions)}"#
            let errors = try await server.answer("POST", "/d/_bulk_docs", Self.json, body: pushed)
            #expect(errors.text.contains("forbidden") && !errors.text.contains(#""id":"e""#), "\(errors.text)")
            #expect(try await server.answer("GET", "/d/_all_docs").text.contains(#""total_rows":3"#))
        }
    }

    @Test("Several queries for local documents are answered at once, and keys of other documents have no row")
    @available(macOS 14, *)
    func localDocuments() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            for path in ["/d/_local/a", "/d/_local/b", "/d/c"] {
                #expect(try await server.answer("PUT", path, Self.json, body: "{}").status == 201)
            }
            func row(_ id: String) -> String { #"{"id":"\#(id)","key":"\#(id)","value":{"rev":"0-1"}}"# }
            let path = "/d/_local_docs/queries"
            let queries = #"{"queries":[{"limit":1},{"update_seq":true,"descending":true,"limit":1}]}"#
            let answer = try await server.answer("POST", path, Self.json, body: queries)
            let expected = [
                #"{"results":["#, #"{"total_rows":null,"offset":null,"rows":["#, row("_local/a"), "]},",
                #"{"total_rows":null,"offset":null,"update_seq":null,"rows":["#, row("_local/b"), "]}", "]}\n",
            ]
            #expect(answer.status == 200 && answer.text == expected.joined(separator: "\r\n"), "\(answer.text)")
            for (body, status) in [("{}", 400), (#"{"queries":1}"#, 400), (#"{"queries":[{"limit":"x"}]}"#, 400)] {
                #expect(try await server.answer("POST", path, Self.json, body: body).status == status)
            }
            let keys = #"{"keys":["_local/b","c",5,"_local/none"]}"#
            let found = try await server.answer("POST", "/d/_local_docs", Self.json, body: keys).text
            #expect(
                found.components(separatedBy: "\r\n").dropFirst().prefix(2) == [
                    row("_local/b") + ",", #"{"key":"_local/none","error":"not_found"}"#,
                ])
        }
    }
}
#endif
