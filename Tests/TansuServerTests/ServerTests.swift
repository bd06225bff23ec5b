#if TansuServer
import Foundation
import HTTPTypes
import Tansu
import Testing
@testable import TansuServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ServerTests {
    @Test @available(macOS 14, *) func welcomes() async throws {
        try await RunningServer.run { server in
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
            let (data, response) = try await URLSession.shared.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(String(decoding: data, as: UTF8.self).contains(#""couchdb":"Welcome""#))
        }
    }

    @Test @available(macOS 14, *) func aDatabaseKeepsItsNameAndItsSessionsOverRestarts() async throws {
        let database = try Database(.memory)
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret"]
        let uuid = try await RunningServer.run(database, options: options) { try #require($0.server.context).uuid }
        let cookie = try await RunningServer.run(database, options: options) { server in
            #expect(server.server.context?.uuid == uuid)
            let answer = try await server.answer(
                "POST", "/_session", ["Content-Type": "application/json"],
                body: #"{"name":"admin","password":"secret"}"#)
            return try #require(answer[header: "set-cookie"]).prefix { $0 != ";" }
        }
        try await RunningServer.run(database, options: options) { server in
            let answer = try await server.answer("GET", "/_session", ["Cookie": String(cookie)])
            #expect(answer.text.contains(#""name":"admin""#))
            #expect(
                try await server.answer("GET", "/_all_dbs", ["Cookie": String(cookie)]).text
                    == #"["_replicator","_users"]"# + "\n")
        }
    }

    @Test @available(macOS 14, *) func databasesThatTheAppDropsAreGone() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database) { server in
            let json = ["Content-Type": "application/json"]
            #expect(try await server.answer("PUT", "/db1").status == 201)
            #expect(try await server.answer("PUT", "/db1/a", json, body: "{}").status == 201)
            #expect(server.server.context?.collections.count == 1)
            try await database.dropCollection("db1")
            #expect(try await server.answer("GET", "/db1/a").status == 404)
            #expect(try await server.answer("PUT", "/db1").status == 201)
            #expect(try await server.answer("GET", "/db1/a").status == 404)
            #expect(try await server.answer("PUT", "/db1/a", json, body: "{}").status == 201)
            #expect(try await server.answer("DELETE", "/db1").status == 200)
            #expect(try await server.answer("GET", "/db1").status == 404)
            #expect(try await server.answer("PUT", "/db1").status == 201)
            #expect(try await server.answer("GET", "/db1").text.contains(#""doc_count":0"#))
            server.server.context?.collections.closeUnused(for: .zero)
            #expect(server.server.context?.collections.count == 0)
            #expect(try await server.answer("GET", "/db1").text.contains(#""doc_count":0"#))
        }
    }

    @Test @available(macOS 14, *) func aDocumentThatIsTooLargeIsRefused() async throws {
        var options = ServerOptions(port: 0)
        options.limits.documentBytes = 10_000
        try await RunningServer.run(options: options) { server in
            let json = ["Content-Type": "application/json"]
            #expect(try await server.answer("PUT", "/db1").status == 201)
            let large = #"{"a":"\#(String(repeating: "x", count: 10_000))"}"#
            for (method, path, body) in [
                ("PUT", "/db1/large", large), ("POST", "/db1/_bulk_docs", #"{"docs":[\#(large)]}"#),
            ] {
                let answer = try await server.answer(method, path, json, body: body)
                // In a batch it is the result of the one document.
                #expect(answer.status == (method == "PUT" ? 413 : 201))
                #expect(answer.text.contains("document_too_large"))
            }
            // However it is sent.
            let spaced = large.replacing(":", with: ":" + String(repeating: " ", count: 5))
            let chunk = "\(String(spaced.utf8.count, radix: 16))\r\n\(spaced)\r\n0\r\n\r\n"
            let head = "PUT /db1/chunks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            let chunked = try await server.answers(to: "\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)", count: 1)
            #expect(chunked.map(\.status) == [413])
            let exact = #"{"a":"\#(String(repeating: "x", count: 9_992))"}"#
            for (path, body) in [("/db1/exact", exact), ("/db1/exact?new_edits=true&x=1", exact + "   ")] {
                let status = try await server.answer("PUT", path, json, body: body).status
                #expect(status == (path == "/db1/exact" ? 201 : 409))
            }
            let batch = #"{"docs":[\#(exact), \#(exact.replacing("x\"", with: "xx\""))]}"#
            let results = try await server.answer("POST", "/db1/_bulk_docs", json, body: batch).text
            #expect(results.components(separatedBy: "document_too_large").count == 2)
            // Its stored form is larger than that.
            let numbers = #"{"a":[\#((0..<2_000).map { _ in "1" }.joined(separator: ","))]}"#
            #expect(try await server.answer("PUT", "/db1/numbers", json, body: numbers).status == 201)
        }
    }

    @Test @available(macOS 14, *) func aDocumentIsSavedUnderTheIdOfTheURLOnly() async throws {
        try await RunningServer.run(options: ServerOptions(port: 0)) { server in
            let json = ["Content-Type": "application/json"]
            for (path, body, status) in [
                ("/db1", "", 201), ("/db1/a", #"{"_id":"a"}"#, 201), ("/db1/b", #"{"_id":"a"}"#, 400),
                // As aiocouch sends it.
                ("/db1/_design/d", #"{"_id":"d"}"#, 201), ("/db1/_design/e", #"{"_id":"d"}"#, 400),
            ] {
                let answer = try await server.answer("PUT", path, json, body: body)
                #expect(answer.status == status)
            }
            #expect(try await server.answer("GET", "/db1/_design/d").text.contains(#""_id":"_design/d""#))
            #expect(try await server.answer("GET", "/db1/d").status == 404)
        }
    }

    @Test @available(macOS 14, *) func metricsCountRequests() async throws {
        try await RunningServer.run { server in
            for _ in 0..<3 { _ = try await server.answer("GET", "/") }
            _ = try await server.answer("GET", "/nowhere")
            let text = try await server.answer("GET", "/_metrics").text
            #expect(text.contains("tansu_server_answers_total{status=\"2xx\"} 3\n"))
            #expect(text.contains("tansu_server_answers_total{status=\"4xx\"} 1\n"))
            #expect(text.contains("tansu_server_requests_total{method=\"GET\"} 4\n"))
            #expect(text.contains("tansu_server_feeds 0\n"))
        }
    }

    private func headers(_ origin: String?, asks method: String? = nil, _ fields: String? = nil) -> [String: String] {
        var headers: [String: String] = [:]
        headers["Origin"] = origin
        headers["Access-Control-Request-Method"] = method
        headers["Access-Control-Request-Headers"] = fields
        return headers
    }

    @Test @available(macOS 14, *) func otherOriginsAreRefusedUnlessNamed() async throws {
        try await RunningServer.run { server in
            let answer = try await server.answer("GET", "/", headers("http://app.example"))
            #expect(!answer.headers.contains { $0.name.hasPrefix("access-control") })
            #expect(
                try await server.answer("OPTIONS", "/", headers("http://app.example", asks: "GET")).status == 405)
        }
        var options = ServerOptions(port: 0)
        options.cors = CrossOriginOptions(origins: ["http://app.example"])
        try await RunningServer.run(options: options) { server in
            let answer = try await server.answer("GET", "/", headers("http://app.example"))
            #expect(answer[header: "access-control-allow-origin"] == "http://app.example")
            #expect(answer[header: "access-control-allow-credentials"] == nil)
            let evil = try await server.answer("GET", "/", headers("http://evil.example"))
            #expect(evil[header: "access-control-allow-origin"] == nil)
            for (request, status) in [
                (headers("http://app.example", asks: "PUT"), 204),
                (headers("http://app.example", asks: "PUT", "Content-Type, authorization"), 204),
                (headers("http://app.example", asks: "PATCH"), 405),
                (headers("http://app.example", asks: "PUT", "x-a"), 405),
                (headers("http://evil.example", asks: "PUT"), 405), (headers(nil, asks: "PUT"), 405),
            ] {
                #expect(try await server.answer("OPTIONS", "/", request).status == status)
            }
        }
    }

    @Test("The list of origins is divided by commas alone, as clients that check it expect") @available(macOS 14, *)
    func originsAsASetting() async throws {
        var options = ServerOptions(port: 0)
        options.cors = CrossOriginOptions(origins: ["app://obsidian.md", "capacitor://localhost"])
        try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            let answer = try await server.answer("GET", "/_node/_local/_config/cors/origins")
            #expect(answer.text == "\"app://obsidian.md,capacitor://localhost\"\n")
            let phone = try await server.answer("GET", "/", ["Origin": "capacitor://localhost"])
            #expect(phone[header: "access-control-allow-origin"] == "capacitor://localhost")
        }
    }
}
#endif
