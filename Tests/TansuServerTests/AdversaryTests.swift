#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

/// What docs/server.md promises, tried at its edges.
@Suite struct AdversaryTests {
    private static let json = ["Content-Type": "application/json"]

    private static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test("A document is nested as deep as the page says, whichever way it comes in or goes out")
    @available(macOS 14, *)
    func nesting() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/d").status == 201)
            for depth in [1, 97, 98, 99, 100, 101, 102, 198, 199, 200, 201, 202, 5_000, 200_000] {
                let value = Self.nested(depth)
                var accepted: [Bool] = []
                func note(_ answer: HTTPAnswer, isAccepted: Bool) {
                    let isRefused = [400, 403, 413].contains(answer.status)
                    #expect(answer.status < 500, "\(depth): \(answer.status) \(answer.text.prefix(200))")
                    if isRefused { #expect(answer.text.contains("\"reason\""), "\(depth): \(answer.text)") }
                    accepted.append(isAccepted)
                }
                let put = try await server.answer("PUT", "/d/put\(depth)", Self.json, body: "{\"v\":\(value)}")
                note(put, isAccepted: put.status == 201)
                let post = try await server.answer(
                    "POST", "/d", Self.json, body: "{\"_id\":\"post\(depth)\",\"v\":\(value)}")
                note(post, isAccepted: post.status == 201)
                let bulk = try await server.answer(
                    "POST", "/d/_bulk_docs", Self.json,
                    body: "{\"docs\":[{\"_id\":\"bulk\(depth)\",\"v\":\(value)},{\"_id\":\"other\(depth)\"}]}")
                note(bulk, isAccepted: bulk.text.contains("\"id\":\"bulk\(depth)\",\"rev\""))
                let pushed = try await server.answer(
                    "POST", "/d/_bulk_docs", Self.json,
                    body:
                        "{\"new_edits\":false,\"docs\":[{\"_id\":\"pushed\(depth)\",\"_rev\":\"1-a\",\"v\":\(value)}]}"
                )
                note(pushed, isAccepted: pushed.status == 201 && !pushed.text.contains("error"))
                let related = "--b\r\nContent-Type: application/json\r\n\r\n{\"v\":\(value)}\r\n--b--"
                let parts = try await server.answer(
                    "PUT", "/d/parts\(depth)", ["Content-Type": "multipart/related; boundary=b"], body: related)
                note(parts, isAccepted: parts.status == 201)
                #expect(Set(accepted).count == 1, "\(depth): \(accepted)")
                if depth <= 98 { #expect(accepted[0], "\(depth)") }
                if depth > 100 { #expect(!accepted[0], "\(depth)") }
                // What is only read is refused or answered.
                for (path, body) in [
                    ("/d/_find", "{\"selector\":{\"v\":\(value)}}"), ("/d/_find", "{\"selector\":\(value)}"),
                    ("/d/_index", "{\"index\":{\"fields\":\(value)}}"), ("/d/_bulk_get", "{\"docs\":\(value)}"),
                    ("/d/_revs_diff", "{\"a\":\(value)}"), ("/d/_explain", "{\"selector\":{\"v\":\(value)}}"),
                    ("/d/_changes?filter=_selector", "{\"selector\":{\"v\":\(value)}}"),
                    ("/d/_all_docs", "{\"keys\":\(value)}"), ("/_replicate", value),
                ] {
                    let answer = try await server.answer("POST", path, Self.json, body: body)
                    #expect(answer.status < 500, "\(path) \(depth): \(answer.status) \(answer.text.prefix(200))")
                }
                let local = try await server.answer(
                    "PUT", "/d/_local/l\(depth)", Self.json, body: "{\"v\":\(value)}")
                #expect(local.status < 500, "\(depth): \(local.text.prefix(200))")
                if local.status == 201 {
                    #expect(try await server.answer("GET", "/d/_local/l\(depth)").text.contains("\"v\":\(value)"))
                }
                guard accepted[0] else { continue }
                for id in ["put", "post", "bulk", "pushed", "parts"].map({ "\($0)\(depth)" }) {
                    for answer in [
                        try await server.answer("GET", "/d/\(id)?revs=true"),
                        try await server.answer("GET", "/d/_all_docs?include_docs=true&key=%22\(id)%22"),
                        try await server.answer("GET", "/d/_changes?include_docs=true"),
                        try await server.answer(
                            "POST", "/d/_bulk_get", Self.json, body: "{\"docs\":[{\"id\":\"\(id)\"}]}"),
                        try await server.answer(
                            "POST", "/d/_find", Self.json, body: "{\"selector\":{\"_id\":\"\(id)\"}}"),
                    ] { #expect(answer.text.contains("\"v\":\(value)"), "\(id): \(answer.text.prefix(200))") }
                }
            }
        }
    }

    @Test("Names of databases have the length that the page says, and work with attachments and indexes")
    @available(macOS 14, *)
    func longNames() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database) { server in
            for length in [101, 102] {
                let name = String(repeating: "n", count: length)
                #expect(try await server.answer("PUT", "/\(name)").status == 201)
                #expect(try await server.answer("PUT", "/\(name)/x", Self.json, body: "{\"a\":1}").status == 201)
                let revision = try await server.answer("GET", "/\(name)/x").text.split(separator: "\"")[7]
                let file = try await server.answer(
                    "PUT", "/\(name)/x/f?rev=\(revision)", ["Content-Type": "text/plain"], body: "bytes")
                #expect(file.status == 201, "\(file.text)")
                let index = try await server.answer(
                    "POST", "/\(name)/_index", Self.json, body: "{\"index\":{\"fields\":[\"a\"]}}")
                #expect(index.status == 200, "\(index.text)")
                let found = try await server.answer(
                    "POST", "/\(name)/_find", Self.json, body: "{\"selector\":{\"a\":1}}")
                #expect(found.text.contains("\"_id\":\"x\""), "\(found.text)")
                #expect(try await server.answer("DELETE", "/\(name)").status == 200)
            }
            for length in [103, 120, 121, 300] {
                let answer = try await server.answer("PUT", "/\(String(repeating: "n", count: length))")
                #expect(answer.status == 400, "\(length): \(answer.status) \(answer.text)")
            }
        }
        let names = try await database.collectionNames()
        #expect(names.filter { $0.hasPrefix("n") || $0.contains(".nnn") } == [])
    }

    @Test(
        "Collections with names too long for revisions are refused, and are what they were", .timeLimit(.minutes(20))
    )
    func longCollectionNames() throws {
        let database = try Database(.memory)
        for length in [101, 102, 103, 110, 119, 120] {
            let people = try database.collection(String(repeating: "p", count: length))
            try people.save(["_id": "x"])
            do {
                try people.enableReplication()
                #expect(try people.revision(of: "x") != nil)
                #expect(length <= 102)
            } catch let error as SyncError {
                #expect(length > 102 && !error.description.isEmpty)
            } catch let error as TansuError {
                #expect(length > 102 && error.code == .invalidName, "\(length): \(error)")
            }
            #expect(try people.count() == 1)
        }
    }

    @Test("A feed ends with its database, and the next of that name begins anew", .timeLimit(.minutes(20)))
    @available(macOS 14, *)
    func recreated() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/d").status == 201)
            #expect(try await server.answer("PUT", "/d/x", Self.json, body: "{}").status == 201)
            let before = try await server.answer("GET", "/d/_changes").text
            let last = try #require(
                before.components(separatedBy: "\"last_seq\":\"").last?.split(separator: "\"").first)
            async let feed = server.answer("GET", "/d/_changes?feed=continuous&heartbeat=100&since=now")
            async let poll = server.answer("GET", "/d/_changes?feed=longpoll&heartbeat=100&since=now")
            while server.server.context?.feeds.count != 2 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await server.answer("DELETE", "/d").status == 200)
            #expect(try await server.answer("PUT", "/d").status == 201)
            #expect(try await server.answer("PUT", "/d/y", Self.json, body: "{}").status == 201)
            #expect(try await [feed.status, poll.status] == [200, 200])
            let after = try await server.answer("GET", "/d/_changes?since=\(last)").text
            #expect(after.contains("\"id\":\"y\"") && !after.contains("\"id\":\"x\""))
        }
    }
}
#endif
