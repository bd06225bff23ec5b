#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing
@testable import TansuServer

/// Documents of `_users`: who writes them, and what is stored.
@Suite struct AccountDocumentTests {
    /// What an endpoint does with the body of a document.
    static let routes = [
        Route(
            "/:db/store/:doc", allow: "PUT", access: .everyone,
            [
                .put: .init { request in
                    let id = request.parameters["doc"] ?? ""
                    let fields = try await request.storedFields(try await request.jsonObject(), id: id)
                    return .json(.document(fields))
                }
            ])
    ]

    @Test @available(macOS 14, *) func aPasswordIsStoredAsItsHash() async throws {
        try await run { server in
            let body = #"{"name":"anna","type":"user","roles":["dev"],"password":"pässword","more":1}"#
            let answer = try await put(server, "admin:secret", "org.couchdb.user:anna", body)
            #expect(answer.status == 200)
            #expect(!answer.text.contains("pässword"))
            let stored = try BSONDocument(extendedJSON: answer.text)
            #expect(stored["password"] == nil && stored["more"]?.intValue == 1)
            let hash = try #require(PasswordHash(stored))
            #expect(try hash.matches("pässword"))
            #expect(hash.iterations == 1_000 && hash.function == .sha256)
            let again = try await put(server, "admin:secret", "org.couchdb.user:anna", body)
            #expect(PasswordHash(try BSONDocument(extendedJSON: again.text))?.salt != hash.salt)
            // Other databases keep what they get.
            let other = try await put(server, "admin:secret", "x", #"{"password":"a"}"#, database: "db1")
            #expect(other.text == #"{"password":"a"}"# + "\n")
        }
    }

    @Test @available(macOS 14, *) func onlyAccountsAreAccepted() async throws {
        try await run { server in
            for (credentials, body, status, reason) in [
                ("admin:secret", #"{"name":"anna","type":"dog","roles":[]}"#, 403, "doc.type must be user"),
                ("admin:secret", #"{"type":"user","roles":[]}"#, 403, "doc.name is required"),
                ("admin:secret", #"{"name":"anna","type":"user"}"#, 403, "doc.roles must exist"),
                ("admin:secret", #"{"name":"anna","type":"user","roles":"a"}"#, 403, "doc.roles must be an array"),
                (
                    "admin:secret", #"{"name":"anna","type":"user","roles":[1]}"#, 403,
                    "doc.roles can only contain strings"
                ),
                (
                    "admin:secret", #"{"name":"bob","type":"user","roles":[]}"#, 403,
                    "Doc ID must be of the form org.couchdb.user:name"
                ),
                (
                    "admin:secret", #"{"name":"anna","type":"user","roles":["_admin"]}"#, 403,
                    "No system roles (starting with underscore) in users db."
                ),
                (
                    "admin:secret", #"{"name":"anna","type":"user","roles":[],"password":1}"#, 403,
                    "Password must be a string."
                ),
                ("jan:apple", #"{"name":"anna","type":"user","roles":[]}"#, 404, "missing"),
                ("", #"{"name":"anna","type":"user","roles":[]}"#, 404, "missing"),
            ] {
                let answer = try await put(server, credentials, "org.couchdb.user:anna", body)
                #expect(answer.status == status)
                #expect(answer.text.contains(reason))
            }
            let own = "org.couchdb.user:jan"
            let allowed = #"{"name":"jan","type":"user","roles":["dev","_admin"],"password":"b"}"#
            #expect(try await put(server, "jan:apple", own, allowed).status == 403)
            let more = try await put(server, "jan:apple", own, #"{"name":"jan","type":"user","roles":["boss"]}"#)
            #expect(more.text.contains("Only _admin may set roles"))
        }
    }

    @available(macOS 14, *)
    private func run(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret"]
        options.passwordIterations = 1_000
        try await RunningServer.run(AuthenticationTests.database(), options: options, moreRoutes: Self.routes, body)
    }

    @available(macOS 14, *)
    private func put(
        _ server: RunningServer, _ credentials: String, _ id: String, _ body: String, database: String = "_users"
    ) async throws -> HTTPAnswer {
        var headers: [String: String] = [:]
        if !credentials.isEmpty {
            headers["Authorization"] = "Basic \(Data(credentials.utf8).base64EncodedString())"
        }
        return try await server.answer("PUT", "/\(database)/store/\(id)", headers, body: body)
    }
}
#endif
