#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// Texts that Swift's `String` takes for one another, in every place where a stranger gives one: "é" in one scalar and in two,
/// and a combining mark after what means something.
@Suite struct BytewiseTests {
    private static let json = ["Content-Type": "application/json"]
    private static let admin = ["Authorization": "Basic " + Data("root:secret".utf8).base64EncodedString()]
    /// "é" in one scalar and in two, and both in paths.
    private static let forms = ["caf\u{E9}", "cafe\u{301}"]
    private static let paths = ["caf%C3%A9", "cafe%CC%81"]

    private static func secured() -> ServerOptions {
        var options = ServerOptions(port: 0)
        options.admins = ["root": "secret"]
        options.passwordIterations = 1
        options.lockout.delay = .zero
        return options
    }

    /// Whether a text has the bytes of another one: `contains` of the standard library takes both forms for one.
    private static func has(_ text: String, _ part: String) -> Bool {
        Data(text.utf8).range(of: Data(part.utf8)) != nil
    }

    private static func basic(_ name: String) -> [String: String] {
        [
            "Authorization": "Basic " + Data("\(name):pw".utf8).base64EncodedString(),
            "Content-Type": "application/json",
        ]
    }

    @Test("Collections whose names are two forms of one text are two databases")
    @available(macOS 14, *)
    func databases() async throws {
        let database = try Database(.memory)
        for form in Self.forms { try await database.collection(form).save(["_id": "doc", "form": .string(form)]) }
        try await RunningServer.run(database) { (server: RunningServer) async throws in
            for _ in 0..<2 {
                for (form, path) in zip(Self.forms, Self.paths) {
                    let document = try await server.answer("GET", "/\(path)/doc").text
                    #expect(Self.has(document, form))
                    let info = try await server.answer("GET", "/\(path)").text
                    #expect(Self.has(info, "\"db_name\":\"\(form)\""))
                }
            }
            #expect(try await server.answer("PUT", "/\(Self.paths[1])/new", Self.json, body: "{}").status == 201)
            #expect(try await server.answer("GET", "/\(Self.paths[0])/new").status == 404)
            #expect(try await server.answer("GET", "/\(Self.paths[1])/new").status == 200)
            // One is gone, the other not.
            #expect(try await server.answer("DELETE", "/\(Self.paths[0])").status == 200)
            #expect(try await server.answer("GET", "/\(Self.paths[0])/doc").status == 404)
            #expect(try await server.answer("GET", "/\(Self.paths[1])/doc").status == 200)
        }
    }

    @Test(
        "A prefix that means something does so whatever follows it",
        arguments: ["%CC%81", "%E2%80%8D", "%EF%B8%8F", "%0A"])
    @available(macOS 14, *)
    func prefixes(_ mark: String) async throws {
        try await RunningServer.run(options: Self.secured()) { (server: RunningServer) async throws in
            let mark = mark
            let text = try #require(mark.removingPercentEncoding)
            #expect(
                try await server.answer(
                    "PUT", "/_users/org.couchdb.user:anna", Self.admin.merging(Self.json) { $1 },
                    body: #"{"name":"anna","type":"user","roles":[],"password":"pw"}"#
                ).status == 201)
            #expect(try await server.answer("PUT", "/d", Self.admin).status == 201)
            let security = #"{"members":{"names":["anna"],"roles":[]},"admins":{"names":[],"roles":[]}}"#
            #expect(try await server.answer("PUT", "/d/_security", Self.admin, body: security).status == 200)
            let anna = Self.basic("anna")
            // Design documents are for those who manage the database, in whatever way they come.
            let design = "_design/\(text)x"
            func body(_ members: (String, BSONValue)...) -> String { BSONDocument(members).extendedJSON(.relaxed) }
            let refused = try await [
                server.answer("PUT", "/d/_design/\(mark)x", anna, body: "{}"),
                server.answer("PUT", "/d/_design%2F\(mark)x", anna, body: "{}"),
                server.answer("POST", "/d", anna, body: body(("_id", .string(design)))),
                server.answer("PUT", "/d/_design/\(mark)x/file", anna, body: "{}"),
                server.answer("DELETE", "/d/_design/\(mark)x?rev=1-a", anna),
            ]
            for answer in refused { #expect([401, 403].contains(answer.status), "\(answer.text)") }
            #expect(try await server.answer("PUT", "/d/plain", anna, body: "{}").status == 201)
            let copied = try await server.answer(
                "COPY", "/d/plain", anna.merging(["Destination": "_design/\(mark)x"]) { $1 })
            #expect(copied.status == 403)
            for edits in [true, false] {
                let bulk = try await server.answer(
                    "POST", "/d/_bulk_docs", anna,
                    body: body(
                        ("docs", [["_id": .string(design), "_rev": edits ? "" : "1-a"]]),
                        ("new_edits", .bool(edits))))
                #expect(bulk.text.contains("forbidden") || bulk.status >= 400, "\(bulk.text)")
            }
            #expect(try await server.answer("GET", "/d/_design/\(mark)x", Self.admin).status == 404)
            // Local documents are not listed, and are not others.
            #expect(try await server.answer("PUT", "/d/_local/x", anna, body: #"{"v":"mine"}"#).status == 201)
            #expect(
                try await server.answer("PUT", "/d/_local/\(mark)x", anna, body: #"{"v":"other"}"#).status == 201)
            #expect(
                try await server.answer("PUT", "/d/_local%2F\(mark)x", anna, body: #"{"v":"third"}"#).status == 201)
            #expect(try await server.answer("GET", "/d/_local/x", anna).text.contains("mine"))
            #expect(try await server.answer("GET", "/d/_local%2F\(mark)x", anna).text.contains("third"))
            let all = try await server.answer("GET", "/d/_all_docs", anna).text
            #expect(all.contains("\"total_rows\":1") && !all.contains("_local"), "\(all)")
            // What begins with an underscore is no document, and no database.
            #expect(try await server.answer("PUT", "/d/_\(mark)x", anna, body: "{}").status >= 400)
            #expect(try await server.answer("PUT", "/_\(mark)x", Self.admin).status == 400)
            #expect(try await server.answer("GET", "/tansu.\(mark)x", Self.admin).status == 404)
        }
    }

    @Test("A user is another one if the bytes of the name are others")
    @available(macOS 14, *)
    func users() async throws {
        try await RunningServer.run(options: Self.secured()) { (server: RunningServer) async throws in
            let admin = Self.admin.merging(Self.json) { $1 }
            for (form, path) in zip(Self.forms, Self.paths) {
                let user: BSONDocument = [
                    "name": .string(form), "type": "user", "roles": [.string(form)], "password": "pw",
                ]
                #expect(
                    try await server.answer(
                        "PUT", "/_users/org.couchdb.user:\(path)", admin, body: user.extendedJSON(.relaxed)
                    ).status == 201)
                // The id says the name.
                #expect(
                    try await server.answer(
                        "PUT", "/_users/org.couchdb.user:\(path == Self.paths[0] ? Self.paths[1] : Self.paths[0])x",
                        admin, body: user.extendedJSON(.relaxed)
                    ).status == 403)
            }
            for (database, group) in [("names", "names"), ("roles", "roles")] {
                #expect(try await server.answer("PUT", "/\(database)", admin).status == 201)
                let security: BSONDocument = ["members": [group: [.string(Self.forms[0])]], "admins": [:]]
                #expect(
                    try await server.answer(
                        "PUT", "/\(database)/_security", admin, body: security.extendedJSON(.relaxed)
                    ).status == 200)
                #expect(
                    try await server.answer("GET", "/\(database)/_all_docs", Self.basic(Self.forms[0])).status
                        == 200)
                #expect(
                    try await server.answer("GET", "/\(database)/_all_docs", Self.basic(Self.forms[1])).status
                        == 403)
            }
            // Only server admins read accounts.
            for path in Self.paths {
                for form in Self.forms {
                    let answer = try await server.answer(
                        "GET", "/_users/org.couchdb.user:\(path)", Self.basic(form))
                    #expect(answer.status == 403, "\(answer.text)")
                }
            }
            // Names that only look allowed, and admins that only look like one.
            for name in ["a:\u{301}b", "_\u{301}a"] {
                let user: BSONDocument = [
                    "_id": .string("org.couchdb.user:\(name)"), "name": .string(name), "type": "user", "roles": [],
                ]
                #expect(
                    try await server.answer("POST", "/_users", admin, body: user.extendedJSON(.relaxed)).status
                        == 403)
            }
            for roles in ["_admin\u{301}", "_\u{301}x"] {
                let user: BSONDocument = [
                    "_id": "org.couchdb.user:eve", "name": "eve", "type": "user", "roles": [.string(roles)],
                    "password": "pw",
                ]
                #expect(
                    try await server.answer("POST", "/_users", admin, body: user.extendedJSON(.relaxed)).status
                        == 403)
            }
        }
    }

    @Test("Fields of _find and its indexes, keys, attachments and purges go by bytes")
    @available(macOS 14, *)
    func documents() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            // Both forms in one document.
            let both = "{\"\(Self.forms[0])\":1,\"\(Self.forms[1])\":2}"
            #expect(try await server.answer("PUT", "/d/both", Self.json, body: both).status == 201)
            let text = try await server.answer("GET", "/d/both").text
            #expect(Self.has(text, "\"\(Self.forms[0])\":1") && Self.has(text, "\"\(Self.forms[1])\":2"))
            for (form, path) in zip(Self.forms, Self.paths) {
                #expect(
                    try await server.answer("PUT", "/d/\(path)", Self.json, body: "{\"f\":\"\(form)\"}").status
                        == 201)
            }
            #expect(
                try await server.answer("PUT", "/d/one", Self.json, body: "{\"\(Self.forms[1])\":2}").status == 201)
            func found(_ selector: String) async throws -> String {
                try await server.answer("POST", "/d/_find", Self.json, body: "{\"selector\":\(selector)}").text
            }
            for isIndexed in [false, true] {
                if isIndexed {
                    let index = "{\"index\":{\"fields\":[\"\(Self.forms[0])\"]},\"name\":\"c\"}"
                    #expect(try await server.answer("POST", "/d/_index", Self.json, body: index).status == 200)
                }
                #expect(try await found("{\"\(Self.forms[1])\":2}").contains("\"_id\":\"one\""))
                #expect(try await !found("{\"\(Self.forms[0])\":1}").contains("\"_id\":\"one\""))
                let rows = try await found("{\"f\":\"\(Self.forms[1])\"}")
                #expect(Self.has(rows, "\"_id\":\"\(Self.forms[1])\""), "\(rows)")
                // Values of text are compared by ICU's collation, as in CouchDB: both forms are one there.
                #expect(Self.has(rows, "\"_id\":\"\(Self.forms[0])\""), "\(rows)")
                #expect(
                    try await found("{\"\(Self.forms[0])\":1,\"\(Self.forms[1])\":2}").contains("\"_id\":\"both\""))
            }
            let key =
                BSONValue.string(Self.forms[1]).extendedJSON().addingPercentEncoding(
                    withAllowedCharacters: .alphanumerics) ?? ""
            #expect(
                try await server.answer("GET", "/d/_all_docs?key=\(key)").text.components(separatedBy: "\"id\"")
                    .count == 2)
            // Two attachments, of which one is removed.
            let first = try await server.answer(
                "PUT", "/d/a/\(Self.paths[0])", ["Content-Type": "text/x"], body: "one")
            let revision = try #require(first.text.firstMatch(of: /"rev":"([^"]*)"/)).1
            let second = try await server.answer(
                "PUT", "/d/a/\(Self.paths[1])?rev=\(revision)", ["Content-Type": "text/x"], body: "two")
            #expect(second.status == 201)
            let newest = try #require(second.text.firstMatch(of: /"rev":"([^"]*)"/)).1
            #expect(try await server.answer("GET", "/d/a/\(Self.paths[0])").text == "one")
            #expect(try await server.answer("DELETE", "/d/a/\(Self.paths[1])?rev=\(newest)").status == 200)
            #expect(try await server.answer("GET", "/d/a/\(Self.paths[0])").text == "one")
            // Lists of ids.
            let changes = try await server.answer(
                "POST", "/d/_changes?filter=_doc_ids", Self.json, body: "{\"doc_ids\":[\"\(Self.forms[1])\"]}"
            ).text
            #expect(Self.has(changes, Self.forms[1]) && !Self.has(changes, "\"\(Self.forms[0])\""), "\(changes)")
        }
    }

    @Test("A request is read by its bytes: parts of the target, names of the query, fields of the head")
    @available(macOS 14, *)
    func requests() async throws {
        #expect(try QueryParameters("limit\u{301}=1&a=1&\u{301}b=2")["limit"] == nil)
        #expect(try QueryParameters("a=\u{301}x")["a"] == "\u{301}x")
        #expect(try RequestPath("/db/\u{301}x").parts == ["db", "\u{301}x"])
        #expect(try RequestPath("/db/_design%2F%CC%81x").parts == ["db", "_design", "\u{301}x"])
        #expect(
            AcceptedTypes("text/html,\u{301}x, application/json;\u{301}q=0").contains("application/json") == true)
        #expect("\u{212A}eep-ALIVE".asciiLowercased == "\u{212A}eep-alive")
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            #expect(try await server.answer("GET", "/d?%CC%81=1").status == 200)
            #expect(try await server.answer("GET", "/d/_all_docs?limit%CC%81=x").status == 200)
            let sequence = try await server.answer("GET", "/d/_changes?since=0-%CC%81a")
            #expect(sequence.status == 200)
        }
    }
}
#endif
