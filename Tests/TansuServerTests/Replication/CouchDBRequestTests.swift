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

    // MARK: Names of attachments

    /// A document with attachments as CouchDB's replicator sends it: it does not escape names.
    private static func related(
        _ names: [String],
        _ head: (String) -> String = { "Content-Disposition: attachment; filename=\"\($0)\"\r\n" }
    ) throws -> String {
        var json = WireJSONWriter()
        json.raw("{\"_rev\":\"1-a\",\"_attachments\":{")
        json.list(names) { json, name in
            json.string(name)
            json.raw(":{\"content_type\":\"image/png\",\"revpos\":1,\"follows\":true,\"length\":")
            json.integer(Int64("<\(name)>".utf8.count))
            json.raw("}")
        }
        json.raw("}}")
        var text =
            "--b\r\nContent-Type: application/json\r\n\r\n\(String(decoding: json.finish(), as: UTF8.self))\r\n--b"
        for name in names {
            text +=
                "\r\n\(head(name))Content-Type: image/png\r\nContent-Length: \("<\(name)>".utf8.count)\r\n\r\n<\(name)>\r\n--b"
        }
        return text + "--"
    }

    private static let names = [
        "q\"uote", "q", "back\\s", "backs", "\"", "\\", "a\\\"b", "end\\", "end", "a;b", "a; filename=\"c\"", "c",
        "a=b", "a%22b",
        "a%b", "100%", "%", " space ", "tab\t", "ü", "u\u{308}", "日本.png", "a'b", "UTF-8''x", "x",
        "=?UTF-8?B?YQ==?=", "a\nb",
        "a\rb", "a\r\nb", "line\r\nX-Header: y", "\u{1}\u{7F}", "a/b", "..", "",
        String(repeating: "n", count: 5_000), "😀",
    ]

    @available(macOS 14, *)
    @Test("Attachments of any name are pushed as CouchDB pushes them, without escapes, in the order of the parts")
    func unescapedNames() async throws {
        try await Self.run { server in
            let orders = [Self.names, Self.names.reversed(), Self.names.sorted { $0.utf8.count < $1.utf8.count }]
            for (number, names) in orders.enumerated() {
                let answer = try await server.answer(
                    "PUT", "/d/n\(number)?new_edits=false", ["Content-Type": "multipart/related; boundary=\"b\""],
                    body: try Self.related(names))
                #expect(answer.status == 201, "\(answer.text)")
                try await Self.expect(names, of: "n\(number)", server)
            }
        }
    }

    /// Every attachment has the bytes of its own name.
    @available(macOS 14, *)
    private static func expect(_ names: [String], of id: String, _ server: RunningServer) async throws {
        let text = try await server.answer("GET", "/d/\(id)?attachments=true", ["Accept": "application/json"]).text
        let attachments = try #require(
            try WireObject.members(json: Array(text.utf8))?.first { $0.key == "_attachments" }?.value.documentValue)
        #expect(attachments.count == names.count)
        for (name, value) in attachments {
            #expect(value["data"]?.stringValue == base64("<\(name)>"), "\(name)")
        }
    }

    @available(macOS 14, *)
    @Test("Other forms of names, and none, are no reason to refuse a document")
    func otherHeads() async throws {
        try await Self.run { server in
            @Sendable func percent(_ name: String) -> String {
                name.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
            }
            let heads: [@Sendable (String) -> String] = [
                { _ in "" }, { _ in "Content-Disposition: attachment\r\n" }, { _ in "Content-Disposition: \r\n" },
                { _ in "no header at all\r\n" },
                { _ in "Content-Disposition: attachment; filename=\"something else\"\r\n" },
                { "Content-Disposition: attachment; filename*=UTF-8''\(percent($0))\r\n" },
                { "Content-Disposition: attachment; filename=\"x\"; filename*=utf-8'en'\(percent($0))\r\n" },
                { _ in "Content-Disposition: attachment; filename*=UTF-8''%ZZ%\r\n" },
                {
                    "Content-Disposition: attachment; filename*0=\"\($0.prefix(1))\"; filename*1=\"\($0.dropFirst())\"\r\n"
                },
                { _ in "Content-Disposition: attachment; filename=\"\r\n" },
            ]
            let names = Self.names.filter {
                !$0.utf8.contains(0x0D) && !$0.utf8.contains(0x0A) && $0.utf8.count < 100
            }
            for (number, head) in heads.enumerated() {
                let answer = try await server.answer(
                    "PUT", "/d/h\(number)?new_edits=false", ["Content-Type": "multipart/related; boundary=b"],
                    body: try Self.related(names.filter { number != 6 || $0 != "x" }, head))
                #expect(answer.status == 201, "\(number): \(answer.text)")
                try await Self.expect(names.filter { number != 6 || $0 != "x" }, of: "h\(number)", server)
            }
            // A client that names its parts may send them in another order.
            let document =
                "{\"_attachments\":{\"a\":{\"follows\":true,\"length\":3},\"b\":{\"follows\":true,\"length\":3}}}"
            let swapped =
                "--b\r\n\r\n\(document)\r\n--b\r\nContent-Disposition: attachment; filename=\"b\"\r\n\r\n<b>\r\n--b\r\n"
                + "Content-Disposition: attachment; filename=\"a\"\r\n\r\n<a>\r\n--b--"
            let answer = try await server.answer(
                "PUT", "/d/swapped", ["Content-Type": "multipart/related; boundary=b"], body: swapped)
            #expect(answer.status == 201, "\(answer.text)")
            try await Self.expect(["a", "b"], of: "swapped", server)
        }
    }

    @available(macOS 14, *)
    @Test("Fewer and more parts than the document announces are refused, and nothing is stored")
    func numberOfParts() async throws {
        try await Self.run { server in
            let whole = try Self.related(["q\"a", "b"])
            let more = String(whole.dropLast(2)) + "\r\nContent-Length: 1\r\n\r\nx\r\n--b--"
            let fewer = try #require(whole.range(of: "\r\n--b\r\nContent-Disposition: attachment; filename=\"b\""))
            for body in [
                more, String(whole[..<fewer.lowerBound]) + "\r\n--b--", whole.replacing("<b>", with: "<bb>"),
            ] {
                let answer = try await server.answer(
                    "PUT", "/d/x?new_edits=false", ["Content-Type": "multipart/related; boundary=b"],
                    body: body)
                #expect(answer.status == 400, "\(answer.text)")
                #expect(try await server.answer("GET", "/d/x").status == 404)
            }
        }
    }

    @available(macOS 14, *)
    @Test("Names go both ways between replicas as they are")
    func namesOnTheWay() async throws {
        try await RemoteReplica.run { replica in
            for name in Self.names where name != "" {
                try await replica.near.save(["_id": "all"])
                try await replica.near.attachments(of: "all").add("<\(name)>".utf8, name: name, type: "text/plain")
            }
            // A media type of which CouchDB cannot read a header.
            try await replica.near.attachments(of: "all").add([1], name: "untyped", type: ";")
            let report = try await replica.replicate(.push)
            #expect(report.writeFailures == 0, "\(report.failures)")
            let files = replica.far.attachments(of: "all")
            for name in Self.names where name != "" {
                #expect(try await files.bytes(of: name) == Array("<\(name)>".utf8), "\(name)")
            }
            try await replica.far.attachments(of: "all").add([2], name: "far \"\\", type: "image/png")
            #expect(try await replica.replicate(.pull).writeFailures == 0)
            #expect(try await replica.near.attachments(of: "all").bytes(of: "far \"\\") == [2])
        }
    }
}
#endif
