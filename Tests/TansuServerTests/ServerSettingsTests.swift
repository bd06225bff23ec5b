#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing
@testable import TansuServer

/// The settings of `/_node/_local/_config` that clients set and check, as CouchDB's documentation has them.
@Suite(.serialized) struct ServerSettingsTests {
    private static let admin = ["Authorization": "Basic " + Data("admin:password".utf8).base64EncodedString()]

    @available(macOS 14, *)
    private static func serve(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "password"]
        try await RunningServer.run(options: options, body)
    }

    @available(macOS 14, *)
    private static func set(_ server: RunningServer, _ name: String, _ json: String) async throws -> HTTPAnswer {
        try await server.answer(
            "PUT", "/_node/_local/_config/\(name)", admin.merging(["Content-Type": "application/json"]) { $1 },
            body: json)
    }

    @Test("What the set-up of Obsidian LiveSync asks for is done, and read back as it was set") @available(macOS 14, *)
    func setUp() async throws {
        let settings = [
            ("chttpd/require_valid_user", #""true""#), ("chttpd_auth/require_valid_user", #""true""#),
            ("httpd/WWW-Authenticate", #""Basic realm=\"couchdb\"""#), ("httpd/enable_cors", #""true""#),
            ("chttpd/enable_cors", #""true""#), ("chttpd/max_http_request_size", #""4294967296""#),
            ("couchdb/max_document_size", #""50000000""#), ("cors/credentials", #""true""#),
            ("cors/origins", #""app://obsidian.md,capacitor://localhost,http://localhost""#),
        ]
        try await Self.serve { (server: RunningServer) async throws in
            let json = Self.admin.merging(["Content-Type": "application/json"]) { $1 }
            let node = #"{"action":"enable_single_node","username":"admin","password":"password","port":5984}"#
            #expect(try await server.answer("POST", "/_cluster_setup", json, body: node).status == 201)
            #expect(
                try await server.answer("GET", "/_cluster_setup", Self.admin).text
                    == "{\"state\":\"single_node_enabled\"}\n")
            for (name, value) in settings { #expect(try await Self.set(server, name, value).status == 200, "\(name)") }
            for (name, value) in settings {
                let answer = try await server.answer("GET", "/_node/_local/_config/\(name)", Self.admin)
                #expect(answer.text == value + "\n", "\(name)")
            }
            #expect(
                try await server.answer("GET", "/_node/_local/_config/admins", Self.admin).text
                    == "{\"admin\":\"-hidden-\"}\n")
            for origin in ["app://obsidian.md", "capacitor://localhost", "http://localhost"] {
                let answer = try await server.answer(
                    "GET", "/_node/_local/_config", Self.admin.merging(["Origin": origin]) { $1 })
                #expect(answer[header: "access-control-allow-origin"] == origin)
                #expect(answer[header: "access-control-allow-credentials"] == "true")
            }
        }
    }

    @Test @available(macOS 14, *) func onlyTheAdminsOfTheOptionsCanBeSetUp() async throws {
        try await Self.serve { (server: RunningServer) async throws in
            for (body, status) in [
                (#"{"action":"enable_single_node"}"#, 201),
                (#"{"action":"enable_single_node","username":"admin","password":"wrong"}"#, 403),
                (#"{"action":"enable_single_node","username":"eve","password":"password"}"#, 403),
                (#"{"action":"enable_single_node","username":"admin"}"#, 403), (#"{"action":"enable_cluster"}"#, 400),
                ("{}", 400), ("[]", 400),
            ] {
                let headers = Self.admin.merging(["Content-Type": "application/json"]) { $1 }
                let answer = try await server.answer("POST", "/_cluster_setup", headers, body: body)
                #expect(answer.status == status, "\(body)")
            }
            #expect(try await server.answer("POST", "/_cluster_setup", body: "{}").status == 401)
        }
    }

    @Test("Either name of require_valid_user keeps out who has not logged in", arguments: ["chttpd", "chttpd_auth"])
    @available(macOS 14, *) func requireValidUser(_ section: String) async throws {
        try await Self.serve { (server: RunningServer) async throws in
            #expect(try await server.answer("GET", "/").status == 200)
            #expect(try await Self.set(server, "\(section)/require_valid_user", #""true""#).status == 200)
            for path in ["/", "/_up", "/_session", "/_uuids"] {
                let answer = try await server.answer("GET", path)
                #expect(answer.status == 401, "\(path)")
                #expect(answer[header: "www-authenticate"] == nil)
                #expect(try await server.answer("GET", path, Self.admin).status == 200, "\(path)")
            }
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            let login = try await server.answer("POST", "/_session", form, body: "name=admin&password=password")
            #expect(login.status == 200)
            #expect(try await Self.set(server, "httpd/WWW-Authenticate", #""Basic realm=\"a\"""#).status == 200)
            #expect(try await server.answer("GET", "/")[header: "www-authenticate"] == #"Basic realm="a""#)
            #expect(try await Self.set(server, "chttpd/require_valid_user", #""false""#).status == 200)
            #expect(try await server.answer("GET", "/").status == 200)
        }
        // Nobody could log in to change it back.
        try await RunningServer.run { (server: RunningServer) async throws in
            #expect(try await Self.set(server, "chttpd/require_valid_user", #""true""#).status == 403)
            #expect(try await server.answer("GET", "/").status == 200)
        }
    }

    @Test @available(macOS 14, *) func sizesLimitBodiesAndDocuments() async throws {
        try await Self.serve { (server: RunningServer) async throws in
            func put(_ id: String, bytes: Int) async throws -> Int {
                let text = String(repeating: "a", count: bytes)
                return try await server.answer("PUT", "/db/\(id)", Self.admin, body: #"{"a":"\#(text)"}"#).status
            }
            #expect(try await server.answer("PUT", "/db", Self.admin).status == 201)
            #expect(try await put("a", bytes: 8_000_100) == 413)
            #expect(try await Self.set(server, "couchdb/max_document_size", #""50000000""#).status == 200)
            #expect(try await put("a", bytes: ServerSettings.largestDocument - 100) == 201)
            #expect(try await put("b", bytes: ServerSettings.largestDocument) == 413)
            #expect(try await Self.set(server, "couchdb/max_document_size", #""1000""#).status == 200)
            #expect(try await put("c", bytes: 1_100) == 413)
            #expect(try await Self.set(server, "chttpd/max_http_request_size", #""500""#).status == 200)
            #expect(try await put("d", bytes: 600) == 413)
            // The way back is not cut off.
            #expect(try await Self.set(server, "chttpd/max_http_request_size", #""infinity""#).status == 200)
            #expect(try await put("e", bytes: 600) == 201)
        }
    }

    @Test(arguments: [
        ("chttpd/max_http_request_size", #""0""#), ("chttpd/max_http_request_size", #""-1""#),
        ("chttpd/max_http_request_size", #""""#), ("couchdb/max_document_size", #""8 MB""#),
        ("couchdb/max_document_size", "50000000"), ("chttpd/require_valid_user", #""yes""#),
        ("chttpd_auth_lockout/mode", #""enforced""#), ("cors/methods", #""GET\r\nX: y""#),
        ("httpd/enable_cors", #""""#), ("httpd/WWW-Authenticate", #""Basic\r\nSet-Cookie: a=b""#),
    ]) @available(macOS 14, *)
    func valuesThatMeanNothingAreRefused(_ name: String, _ value: String) async throws {
        try await Self.serve { (server: RunningServer) async throws in
            let before = try await server.answer("GET", "/_node/_local/_config", Self.admin).text
            #expect(try await Self.set(server, name, value).status == 400)
            #expect(try await server.answer("GET", "/_node/_local/_config", Self.admin).text == before)
        }
    }
}
#endif
