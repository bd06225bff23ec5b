#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

/// Accounts that come from another database: by `new_edits` false, or by a replication into `_users`.
@Suite struct AccountReplicationTests {
    private static let headers = [
        "Content-Type": "application/json",
        "Authorization": "Basic \(Data("admin:secret".utf8).base64EncodedString())",
    ]

    /// Documents by their ids, and why each is refused; nil for accounts.
    private static let documents: [(id: String, fields: BSONDocument, reason: String?)] = [
        ("org.couchdb.user:ann", account("ann"), nil),
        ("org.couchdb.user:clear", account("clear", ["password": "secret"]), "hash of its password"),
        ("org.couchdb.user:root", account("root", ["roles": .array(["_admin"])]), "No system roles"),
        ("org.couchdb.user:other", account("bob"), "Doc ID must be of the form"),
        ("org.couchdb.user:salt", account("salt", ["password_sha": "00"]), "must have a salt"),
        ("org.couchdb.user:scheme", account("scheme", ["password_scheme": "rot13"]), "`rot13` not supported"),
        (
            "org.couchdb.user:rounds", account("rounds", ["password_scheme": "pbkdf2", "derived_key": "00"]),
            "iterations must be a number"
        ),
        (
            "org.couchdb.user:key", account("key", ["password_scheme": "pbkdf2", "iterations": 1]),
            "derived_key must be a string"
        ),
        ("junk", ["n": 1], "doc.type must be user"),
        ("_design/_auth", ["language": "javascript"], nil),
    ]

    private static func account(_ name: String, _ more: BSONDocument = [:]) -> BSONDocument {
        var fields: BSONDocument = ["name": .string(name), "type": "user", "roles": .array([])]
        for (key, value) in more { fields[key] = value }
        return fields
    }

    private static var options: ServerOptions {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret"]
        options.passwordIterations = 1_000
        return options
    }

    @Test("A replication into _users takes accounts only, without harm to the others") @available(macOS 14, *)
    func replication() async throws {
        try await RunningServer.run(options: Self.options) { server in
            #expect(try await server.answer("PUT", "/source", Self.headers).status == 201)
            for document in Self.documents {
                let id = document.id.replacing(":", with: "%3A")
                let put = try await server.answer(
                    "PUT", "/source/\(id)", Self.headers, body: document.fields.extendedJSON())
                #expect(put.status == 201, "\(put.text)")
            }
            let answer = try await server.answer(
                "POST", "/_replicate", Self.headers, body: #"{"source":"source","target":"_users"}"#)
            let refused = Self.documents.filter { $0.reason != nil }
            #expect(answer.status == 200)
            #expect(answer.text.contains("\"doc_write_failures\":\(refused.count)"), "\(answer.text)")
            let users = try await server.answer("GET", "/_users/_all_docs", Self.headers)
            let ids = users.text.matches(of: /"id":"([^"]*)"/).map { String($0.1) }
            #expect(ids == ["_design/_auth", "org.couchdb.user:ann"])
            // A tombstone is no account.
            let rev = try await server.answer("HEAD", "/source/org.couchdb.user%3Aann", Self.headers)[
                header: "etag"]
            let removed = try await server.answer(
                "DELETE", "/source/org.couchdb.user%3Aann?rev=\(rev?.replacing("\"", with: "") ?? "")", Self.headers
            )
            #expect(removed.status == 200)
            _ = try await server.answer(
                "POST", "/_replicate", Self.headers, body: #"{"source":"source","target":"_users"}"#)
            #expect(try await server.answer("GET", "/_users/org.couchdb.user%3Aann", Self.headers).status == 404)
        }
    }

    @Test("A replication says why an account is refused") @available(macOS 14, *)
    func reasons() async throws {
        let database = try Database(.memory)
        let source = try database.collection("source")
        for document in Self.documents where !document.id.hasPrefix("_") {
            var fields = document.fields
            fields["_id"] = .string(document.id)
            try await source.save(fields)
        }
        let replication = try await source.replicate(with: database.collection("_users"), .push)
        try await replication.wait()
        let failures = replication.reports[0].failures
        for document in Self.documents where !document.id.hasPrefix("_") {
            let failure = failures.first { $0.id == document.id }
            #expect((failure == nil) == (document.reason == nil))
            if let reason = document.reason { #expect(failure?.reason.contains(reason) == true) }
        }
        #expect(try await database.collection("_users").count() == 1)
    }

    @Test("A push refuses what is no account by document, and hashes passwords as CouchDB does")
    @available(macOS 14, *)
    func push() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database, options: Self.options) { server in
            let documents = Self.documents.map { document -> BSONValue in
                var fields = document.fields
                fields["_id"] = .string(document.id)
                fields["_rev"] = "1-00000000000000000000000000000001"
                return .document(fields)
            }
            let body: BSONDocument = ["new_edits": false, "docs": .array(BSONArray(documents))]
            let answer = try await server.answer(
                "POST", "/_users/_bulk_docs", Self.headers, body: body.extendedJSON())
            #expect(answer.status == 201)
            for document in Self.documents {
                let isHashed = document.id == "org.couchdb.user:clear"
                let isRefused = answer.text.contains("\"\(document.id)\"")
                #expect(isRefused == (document.reason != nil && !isHashed), "\(document.id): \(answer.text)")
            }
            #expect(answer.text.contains(#""rev":"1-00000000000000000000000000000001","error":"forbidden""#))
            #expect(try await database.collection("_users").get("org.couchdb.user:clear")?["password"] == nil)
            #expect(try await database.collection("_users").count() == 2)
        }
    }
}
#endif
