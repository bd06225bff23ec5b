#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// What CouchDB 3.5 answers where servers differ easily.
@Suite struct CouchDBAnswerTests {
    private static let json = ["Content-Type": "application/json"]

    private static func ids(_ answer: HTTPAnswer) -> [String] {
        answer.text.matches(of: /"id":"([^"]*)"/).map { String($0.1) }
    }

    @Test("A key of a listing that is no text comes before every id")
    @available(macOS 14, *)
    func keys() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            for path in ["/d", "/d/a", "/d/m", "/d/_design/x", "/d/_local/l"] {
                #expect(try await server.answer("PUT", path, Self.json, body: "{}").status == 201)
            }
            let all = ["_design/x", "a", "m"]
            for value in ["5", "null", "true", "-1.5", "%7B%7D", "%5B%5D", "%5B%22a%22%5D"] {
                func rows(_ query: String) async throws -> [String] {
                    Self.ids(try await server.answer("GET", "/d/_all_docs?\(query)"))
                }
                #expect(try await rows("key=\(value)") == [])
                #expect(try await rows("endkey=\(value)") == [])
                #expect(try await rows("end_key=\(value)&inclusive_end=false") == [])
                #expect(try await rows("startkey=\(value)") == all)
                #expect(try await rows("startkey=\(value)&descending=true") == [])
                #expect(try await rows("endkey=\(value)&descending=true") == all.reversed())
                #expect(try await rows("startkey=\(value)&endkey=%22a%22") == ["_design/x", "a"])
                #expect(Self.ids(try await server.answer("GET", "/d/_design_docs?key=\(value)")) == [])
                #expect(Self.ids(try await server.answer("GET", "/d/_local_docs?endkey=\(value)")) == [])
                #expect(try await server.answer("GET", "/_all_dbs?endkey=\(value)").text == "[]\n")
                #expect(try await server.answer("GET", "/_all_dbs?startkey=\(value)").text == "[\"d\"]\n")
            }
            let posted = try await server.answer("POST", "/d/_all_docs", Self.json, body: #"{"key":5}"#)
            #expect(posted.status == 200 && Self.ids(posted) == [])
            for query in ["startkey=%22a%22", "endkey=%22a%22", "key=%22a%22", "key=null"] {
                let answer = try await server.answer("GET", "/d/_all_docs?keys=%5B%22m%22%5D&\(query)")
                #expect(answer.status == 400 && answer.text.contains("query_parse_error"), "\(query)")
            }
            #expect(try await server.answer("GET", "/d/_all_docs?keys=%5B%5D&key=%22a%22").status == 200)
            let twice = try await server.answer("GET", "/d/_all_docs?keys=%5B%22m%22%5D&key=%22m%22")
            #expect(twice.status == 200 && Self.ids(twice) == ["m"])
            let queries = #"{"queries":[{"keys":["a"],"startkey":"a"}]}"#
            #expect(try await server.answer("POST", "/d/_all_docs/queries", Self.json, body: queries).status == 400)
        }
    }

    @Test(
        "_find sees the conflicts of a document if they are asked for, and an index has them",
        arguments: [false, true])
    @available(macOS 14, *)
    func conflicts(_ isIndexed: Bool) async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            func post(_ path: String, _ body: String) async throws -> HTTPAnswer {
                try await server.answer("POST", path, Self.json, body: body)
            }
            #expect(try await server.answer("PUT", "/d").status == 201)
            _ = try await post("/d/_bulk_docs", #"{"docs":[{"_id":"doc","a":2},{"_id":"other","a":3}]}"#)
            _ = try await post(
                "/d/_bulk_docs",
                #"{"docs":[{"_id":"doc","_rev":"1-ffffffffffffffffffffffffffffffff","a":1}],"new_edits":false}"#)
            if isIndexed {
                #expect(try await post("/d/_index", #"{"index":{"fields":["_conflicts"]}}"#).status == 200)
            }
            for selector in [
                #"{"_conflicts":{"$exists":true}}"#, #"{"_conflicts":{"$size":1}}"#,
                #"{"_conflicts":{"$gt":null}}"#,
            ] {
                let found = try await post("/d/_find", "{\"selector\":\(selector),\"conflicts\":true}")
                #expect(Self.docs(found) == ["doc"] && found.text.contains("\"_conflicts\":[\"1-"), "\(found.text)")
                #expect(Self.docs(try await post("/d/_find", "{\"selector\":\(selector)}")) == [])
            }
            let without = try await post(
                "/d/_find", #"{"selector":{"_conflicts":{"$exists":false}},"conflicts":true}"#)
            #expect(Self.docs(without) == ["other"])
            let shown = try await post(
                "/d/_find", #"{"selector":{"a":{"$gt":0}},"conflicts":true,"fields":["_id","a"]}"#)
            #expect(Self.docs(shown) == ["doc", "other"] && !shown.text.contains("_conflicts"))
        }
    }

    private static func docs(_ answer: HTTPAnswer) -> [String] {
        answer.text.matches(of: /"_id":"([^"]*)"/).map { String($0.1) }
    }

    @Test(
        "What a request gets that is malformed in a way of its own",
        arguments: [
            ("GET", "/%ZZ", nil, 400, "invalid_url_encoding"), ("PUT", "/d/%zz", "{}", 400, "invalid_url_encoding"),
            ("GET", "/d/%4", nil, 400, "invalid_url_encoding"), ("GET", "/d?a=%", nil, 400, "invalid_url_encoding"),
            ("POST", "/d/_index", #"{"index":{"fields":["a"]},"ddoc":"_design/"}"#, 400, "illegal_docid"),
            ("POST", "/d/_index", #"{"index":{"fields":{"foo":"bar"}}}"#, 400, "invalid_sort_json"),
            ("POST", "/d/_find", #"{"selector":{"a":1},"use_index":"foo/bar/baz"}"#, 400, "invalid_index_name"),
            (
                "POST", "/d/_find", #"{"selector":{"a":1},"use_index":"_design/foo/bar/baz"}"#, 400,
                "invalid_index_name"
            ),
            ("POST", "/d/_find", #"{"selector":{"a":{"$beginsWith":123}}}"#, 400, "invalid_operator"),
            ("POST", "/d/_bulk_docs", #"{"all_or_nothing":true,"docs":[{"_id":"t"}]}"#, 417, "not_implemented"),
            ("POST", "/d/_bulk_docs", #"{"all_or_nothing":false,"docs":[{"_id":"u"}]}"#, 201, "\"ok\":true"),
            ("GET", "/d/_index?limit=1;skip=0", nil, 200, "total_rows"),
            ("GET", "/d/_all_docs?limit=0;include_docs=true", nil, 200, "\"rows\":[\r\n]"),
        ] as [(String, String, String?, Int, String)])
    @available(macOS 14, *)
    func malformed(_ method: String, _ path: String, _ body: String?, _ status: Int, _ word: String) async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            let answer = try await server.answer(method, path, Self.json, body: body)
            #expect(answer.status == status && answer.text.contains(word), "\(answer.status) \(answer.text)")
        }
    }

    @Test("Members of a replicator are kept, and a parent without _rev need not exist")
    @available(macOS 14, *)
    func members() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/d").status == 201)
            let members = #""_replication_id":"x","_replication_state":"triggered","_replication_stats":{"a":1}"#
            #expect(try await server.answer("PUT", "/d/r", Self.json, body: "{\(members),\"b\":1}").status == 201)
            let text = try await server.answer("GET", "/d/r").text
            #expect(text.contains(members) && text.contains("\"b\":1"), "\(text)")
            let listed = try await server.answer("GET", "/d/_all_docs?include_docs=true").text
            #expect(listed.contains(members))
            let found = try await server.answer(
                "POST", "/d/_find", Self.json, body: #"{"selector":{"_replication_state":"triggered"}}"#)
            #expect(Self.docs(found) == ["r"])
            let path = #"{"_revisions":{"start":1,"ids":["bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}}"#
            #expect(try await server.answer("PUT", "/d/new", Self.json, body: path).status == 201)
            // With _rev it must.
            let named = #"{"_rev":"1-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}"#
            #expect(try await server.answer("PUT", "/d/other", Self.json, body: named).status == 409)
        }
    }

    @Test("A revision may be a generation and a dash only")
    @available(macOS 14, *)
    func emptyHashes() async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            func post(_ path: String, _ body: String) async throws -> HTTPAnswer {
                try await server.answer("POST", path, Self.json, body: body)
            }
            #expect(try await server.answer("PUT", "/d").status == 201)
            let pushed = try await post(
                "/d/_bulk_docs",
                #"{"docs":[{"_id":"a","_rev":"1-","n":1},{"_id":"b","_revisions":{"start":2,"ids":["x",""]}}],"#
                    + #""new_edits":false}"#)
            #expect(pushed.status == 201 && pushed.text == "[]\n", "\(pushed.text)")
            #expect(try await server.answer("GET", "/d/a?rev=1-").text == #"{"_id":"a","_rev":"1-","n":1}"# + "\n")
            #expect(try await server.answer("GET", "/d/b?revs=true").text.contains(#""ids":["x",""]"#))
            let missing = try await post("/d/_revs_diff", #"{"a":["1-","2-"]}"#)
            #expect(missing.text == #"{"a":{"missing":["2-"],"possible_ancestors":["1-"]}}"# + "\n")
            let edited = try await server.answer("PUT", "/d/a?rev=1-", Self.json, body: #"{"n":2}"#)
            #expect(edited.status == 201 && edited.text.contains(#""rev":"2-"#), "\(edited.text)")
            let attached = try await post(
                "/d/_bulk_docs", #"{"docs":[{"_id":"c","_rev":"3-"}],"new_edits":false}"#)
            #expect(attached.status == 201)
            #expect(try await server.answer("PUT", "/d/c/note?rev=3-", Self.json, body: "1").status == 201)
            #expect(try await server.answer("DELETE", "/d/a?rev=1-").status == 409)
        }
    }

    @Test("The session's cookie is for requests of its own site, unless pages of others may log in over TLS")
    func cookies() {
        let lax = SessionCookie.field("x", lifetime: .seconds(1), isSecure: false)
        #expect(lax.contains("; HttpOnly; SameSite=Lax") && !lax.contains("Secure"))
        #expect(SessionCookie.field("x", lifetime: .seconds(1), isSecure: true).hasSuffix("; SameSite=Lax; Secure"))
        let shared = SessionCookie.field("x", lifetime: .seconds(1), isSecure: true, isShared: true)
        #expect(shared.hasSuffix("; SameSite=None; Secure"))
        #expect(
            SessionCookie.field("x", lifetime: .seconds(1), isSecure: false, isShared: true).hasSuffix(
                "SameSite=Lax"))
    }

    @Test(
        "A request that says twice or not at all which server it is for, or how its body ends otherwise, is refused"
    )
    @available(macOS 14, *)
    func framing() async throws {
        try await RunningServer.run(moreRoutes: TestRoutes.all) { (server: RunningServer) async throws in
            let cases: [(String, [Int])] = [
                ("GET / HTTP/1.1\r\n\r\n", [400]),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", [400]),
                ("GET / HTTP/1.0\r\n\r\n", [200]),
                ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", [400]),
                (
                    "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                    [501]
                ),
                (
                    "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    [501]
                ),
                (
                    "PUT /test/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: CHUNKED\r\nConnection: close\r\n\r\n1\r\n5\r\n0\r\n\r\n",
                    [200]
                ),
                // After others, in their order; what follows is not read.
                (
                    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    [200, 400]
                ),
            ]
            for (request, statuses) in cases {
                #expect(try await server.answers(to: request).map(\.status) == statuses, "\(request)")
            }
        }
    }

    @Test(
        "After a request for a tunnel or another protocol the connection ends",
        arguments: [
            ("CONNECT /x HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
            ("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200),
            (
                "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, upgrade\r\nUpgrade: websocket\r\n\r\n",
                200
            ),
        ])
    @available(macOS 14, *)
    func upgrades(_ request: String, _ status: Int) async throws {
        try await RunningServer.run { (server: RunningServer) async throws in
            let next = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let answers = try await server.answers(to: request + next)
            #expect(answers.count == 1 && (answers.first?.status == status || answers.first?.status == 404))
            #expect(answers.first?[header: "connection"] == "close")
        }
    }
}
#endif
