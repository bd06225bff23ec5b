#if TansuServer
    import Foundation
    import Tansu
    import TansuBSON
    import Testing

    @testable import TansuServer
    @testable import TansuSync

    /// What CouchDB's replicator and clients send that is easily taken for a fault.
    @Suite("Requests of CouchDB's replicator and clients")
    struct CouchDBRequestTests {
        private static let json = ["Content-Type": "application/json"]

        @available(macOS 14, *)
        private static func run(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
            try await RunningServer.run { server in
                #expect(try await server.answer("PUT", "/d").status == 201)
                try await body(server)
            }
        }

        private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

        // MARK: Local documents

        @available(macOS 14, *)
        @Test("A checkpoint is saved again and again as CouchDB does, with every member that CouchDB takes")
        func localDocuments() async throws {
            try await Self.run { server in
                for (body, revision) in [
                    (#"{"a":1}"#, "0-1"), (#"{"_rev":"0-1","_revisions":{"start":0,"ids":["1"]},"a":2}"#, "0-2"),
                    (#"{"_revisions":{"start":0,"ids":["2","1"]},"_rev":"0-2","a":3}"#, "0-3"),
                    // The revisions count for more than the revision, unless there are none.
                    (#"{"_rev":"0-9","_revisions":{"start":0,"ids":["3"]}}"#, "0-4"),
                    (#"{"_rev":"0-9","_revisions":{"start":0,"ids":[]}}"#, "0-10"), (#"{"_rev":"0--1"}"#, "0-0"),
                    (
                        #"{"_id":"_local/x","_deleted":false,"_conflicts":[],"_deleted_conflicts":[],"_revs_info":[],"#
                            + #""_local_seq":4,"_attachments":{"f":{"data":"YQ=="}},"a":4}"#, "0-1"
                    ),
                    (
                        #"{"_access":["u"],"_replication_id":"r","_replication_state":"s","_replication_state_time":"t","#
                            + #""_replication_state_reason":"w","_replication_stats":{"n":1},"z":5}"#, "0-1"
                    ),
                ] {
                    let answer = try await server.answer("PUT", "/d/_local/x", Self.json, body: body)
                    #expect(answer.status == 201, "\(body): \(answer.text)")
                    #expect(answer.text.contains("\"rev\":\"\(revision)\""), "\(body): \(answer.text)")
                }
                let stored = try await server.answer("GET", "/d/_local/x?revs=true").text
                for part in [
                    #""_access":["u"]"#, #""_replication_id":"r""#, #""_replication_state":"s""#,
                    #""_replication_stats":{"n":1}"#, #""z":5"#, #""_revisions":{"start":0,"ids":["1"]}"#,
                ] {
                    #expect(stored.contains(part), "\(part): \(stored)")
                }
                #expect(!stored.contains("_attachments"))
                for body in [
                    #"{"_rev":"1-a"}"#, #"{"_revisions":{"start":1,"ids":["a"]}}"#,
                    #"{"_revisions":{"start":0,"ids":["x"]}}"#,
                    #"{"_revisions":{"start":0,"ids":[1]}}"#, #"{"_revisions":{"start":"0","ids":["1"]}}"#,
                    #"{"_revisions":{"start":0,"ids":"1"}}"#, #"{"_unknown":1}"#,
                ] {
                    let answer = try await server.answer("PUT", "/d/_local/x", Self.json, body: body)
                    #expect(answer.status == 400 || answer.text.contains("doc_validation"), "\(body): \(answer.text)")
                }
                // In batches and alone, as edits and as what replicas push.
                let document =
                    #"{"_id":"_local/y","_rev":"0-4","_revisions":{"start":0,"ids":["4"]},"_replication_id":"q"}"#
                for (path, body) in [
                    ("/d", document), ("/d/_bulk_docs", "{\"docs\":[\(document)]}"),
                    ("/d/_bulk_docs", "{\"new_edits\":false,\"docs\":[\(document)]}"),
                ] {
                    #expect(try await server.answer("POST", path, Self.json, body: body).status == 201)
                    let stored = try await server.answer("GET", "/d/_local/y").text
                    #expect(
                        stored.contains("\"_rev\":\"0-5\"") && stored.contains("\"_replication_id\":\"q\""), "\(stored)"
                    )
                }
                // Such a revision of an ordinary document is one that it does not have.
                let ordinary = try await server.answer(
                    "PUT", "/d/o", Self.json, body: #"{"_revisions":{"start":0,"ids":["1"]}}"#)
                #expect(ordinary.status == 409, "\(ordinary.text)")
            }
        }

        // MARK: The generation of attachments

        @available(macOS 14, *)
        @Test("New bytes of an attachment have the generation of the new revision, however they come")
        func revpos() async throws {
            try await Self.run { server in
                func revision() async throws -> String {
                    let text = try await server.answer("GET", "/d/a").text
                    return try String(#require(text.firstMatch(of: /"_rev":"([^"]+)"/)).1)
                }
                func revpos(_ name: String, of id: String = "a") async throws -> String? {
                    let text = try await server.answer("GET", "/d/\(id)").text
                    let pattern = try Regex("\"\(name)\":\\{\"content_type\":\"[^\"]*\",\"revpos\":([0-9]+)")
                    return text.firstMatch(of: pattern).flatMap { $0.output[1].substring.map { String($0) } }
                }
                func inline(_ text: String) -> String {
                    "{\"content_type\":\"text/plain\",\"revpos\":1,\"data\":\"\(Self.base64(text))\"}"
                }
                let kept = "\"kept\":{\"stub\":true,\"revpos\":1}"
                let first = try await server.answer(
                    "PUT", "/d/a", Self.json,
                    body: "{\"_attachments\":{\"one\":\(inline("1")),\"kept\":\(inline("k"))}}")
                #expect(first.status == 201)
                #expect(try await revpos("one") == "1")
                let inlined = try await server.answer(
                    "PUT", "/d/a", Self.json,
                    body: "{\"_rev\":\"\(try await revision())\",\"_attachments\":{\"one\":\(inline("2")),\(kept)}}")
                #expect(inlined.status == 201, "\(inlined.text)")
                #expect(try await revpos("one") == "2")
                let batch = try await server.answer(
                    "POST", "/d/_bulk_docs", Self.json,
                    body: "{\"docs\":[{\"_id\":\"a\",\"_rev\":\"\(try await revision())\",\"_attachments\":"
                        + "{\"one\":\(inline("3")),\(kept)}}]}")
                #expect(batch.status == 201, "\(batch.text)")
                #expect(try await revpos("one") == "3")
                let parts = try await server.answer(
                    "PUT", "/d/a", ["Content-Type": "multipart/related; boundary=b"],
                    body:
                        "--b\r\nContent-Type: application/json\r\n\r\n{\"_rev\":\"\(try await revision())\",\"_attachments\":"
                        + "{\"one\":{\"content_type\":\"text/plain\",\"revpos\":1,\"length\":1,\"follows\":true},\(kept)}}"
                        + "\r\n--b\r\n\r\n4\r\n--b--")
                #expect(parts.status == 201, "\(parts.text)")
                #expect(try await revpos("one") == "4")
                let put = try await server.answer(
                    "PUT", "/d/a/one?rev=\(try await revision())", ["Content-Type": "text/plain"], body: "5")
                #expect(put.status == 201, "\(put.text)")
                #expect(try await revpos("one") == "5")
                let post = try await server.answer(
                    "POST", "/d", Self.json,
                    body:
                        "{\"_id\":\"a\",\"_rev\":\"\(try await revision())\",\"_attachments\":{\"one\":\(inline("6")),\(kept)}}"
                )
                #expect(post.status == 201, "\(post.text)")
                #expect(try await revpos("one") == "6")
                #expect(try await revpos("kept") == "1")
                // A copy is new at its target.
                let copied = try await server.answer("COPY", "/d/a", ["Destination": "copy"])
                #expect(copied.status == 201)
                #expect(try await revpos("one", of: "copy") == "1")
                #expect(try await revpos("kept", of: "copy") == "1")
                let target = try #require(copied.text.firstMatch(of: /"rev":"([^"]+)"/)).1
                #expect(
                    try await server.answer("COPY", "/d/a", ["Destination": "copy?rev=\(target)"]).status == 201)
                #expect(try await revpos("one", of: "copy") == "2")
                #expect(try await revpos("kept", of: "copy") == "2")
                // What a replica pushes has the generation that it says.
                let pushed = try await server.answer(
                    "PUT", "/d/p?new_edits=false", Self.json,
                    body: #"{"_revisions":{"start":3,"ids":["c","b","a"]},"_attachments":{"one":"# + inline("x") + "}}")
                #expect(pushed.status == 201, "\(pushed.text)")
                #expect(try await revpos("one", of: "p") == "1")
            }
        }

        @available(macOS 14, *)
        @Test("A replica that has the former revision gets the new bytes")
        func bytesArrive() async throws {
            try await RemoteReplica.run { replica in
                func edit(_ text: String) async throws {
                    let rev = try await replica.far.revision(of: "a").map { "\"_rev\":\"\($0)\"," } ?? ""
                    let answer = try await replica.server.answer(
                        "PUT", "/people/a", Self.json,
                        body: "{\(rev)\"_attachments\":{\"f\":{\"revpos\":1,\"content_type\":\"image/png\",\"data\":"
                            + "\"\(Self.base64(text))\"}}}")
                    #expect(answer.status == 201, "\(answer.text)")
                }
                for text in ["one", "two", "three"] {
                    try await edit(text)
                    _ = try await replica.replicate(.pull)
                    #expect(try await replica.near.attachments(of: "a").bytes(of: "f") == Array(text.utf8))
                    // As CouchDB asks for them: those that are newer than what it has.
                    let revision = try #require(try await replica.far.revision(of: "a"))
                    let former = try await replica.far.enableReplication().read { store in
                        try #require(try store.document("a")).tree.history(of: revision).dropFirst().first?.revision
                    }
                    guard let former else { continue }
                    let answer = try await replica.server.answer(
                        "GET", "/people/a?atts_since=%5B%22\(former)%22%5D&attachments=true",
                        ["Accept": "application/json"])
                    #expect(answer.text.contains(Self.base64(text)), "\(answer.text)")
                }
            }
        }
    }
#endif
