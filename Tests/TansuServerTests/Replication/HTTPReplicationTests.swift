#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication over HTTP")
struct HTTPReplicationTests {
    @available(macOS 14, *)
    @Test("Documents, deletions, conflicts and attachments go both ways; all replicas agree")
    func bothWays() async throws {
        try await RemoteReplica.run { replica in
            try await RemoteReplica.fill(replica.near, "near")
            try await RemoteReplica.fill(replica.far, "far")
            try await replica.near.save(["_id": "both", "side": "near"])
            try await replica.far.save(["_id": "both", "side": "far"])
            let pushed = try await replica.replicate(.push)
            #expect(pushed.writeFailures == 0 && pushed.documentsWritten == 8)
            let pulled = try await replica.replicate(.pull)
            #expect(pulled.writeFailures == 0 && pulled.documentsWritten == 8)
            let leaves = try await replica.leaves()
            #expect(leaves.near == leaves.far)
            #expect(leaves.near.count == 15 && leaves.near["both"]?.count == 2)
            for name in ["near", "far"] {
                let id = "\(name) a/b?c=d&e"
                for file in try await replica.near.attachments(of: id).list() {
                    let bytes = try await replica.near.attachments(of: id).bytes(of: file.name)
                    #expect(try await replica.far.attachments(of: id).bytes(of: file.name) == bytes)
                }
                #expect(try await replica.near.attachments(of: id).list().count == 3)
                let digests = try await replica.near.attachments(of: id).list().map(\.digest)
                #expect(try await replica.far.attachments(of: id).list().map(\.digest) == digests)
                let document = try await replica.near.get("\(name) %2F")
                #expect(try await replica.far.get("\(name) %2F") == document)
            }
            let again = try await (replica.replicate(.push), replica.replicate(.pull))
            #expect(again.0.documentsRead == 0 && again.1.documentsRead == 0)
        }
    }

    @available(macOS 14, *)
    @Test("Types that JSON lacks come back as they were, or are plain JSON at the server where that is asked for")
    func types() async throws {
        try await RemoteReplica.run { replica in
            let date = Date(timeIntervalSince1970: 1_800_000_000)
            let id = try #require(ObjectID("507f1f77bcf86cd799439011"))
            let fields: [(String, BSONValue)] = [
                ("at", BSONValue(date)), ("ref", .objectID(id)), ("bytes", .binary(BSONBinary([1, 2, 3]))),
            ]
            func pushed(_ name: String, _ form: Replication.JSONForm) async throws -> BSONDocument? {
                try await replica.near.save(BSONDocument([("_id", .string(name))] + fields))
                var options = Replication.Options()
                options.jsonForm = form
                try await replica.near.replicate(with: replica.url, .push, options: options).wait()
                return try await replica.far.get(name)
            }
            #expect(try await pushed("same", .extended) == BSONDocument([("_id", "same")] + fields))
            #expect(
                try await pushed("plain", .plain) == [
                    "_id": "plain", "at": "2027-01-15T08:00:00Z", "ref": "507f1f77bcf86cd799439011",
                    "bytes": "AQID",
                ])
        }
    }

    @available(macOS 14, *)
    @Test("A sync with nothing to do costs two requests")
    func nothingToDo() async throws {
        try await RemoteReplica.run { replica in
            try await RemoteReplica.fill(replica.far, "far")
            let first = try await replica.replicate(.pull)
            #expect(first.documentsWritten == 7)
            let transport = FaultyTransport(ClientTransport(timeout: 20))
            let second = try await replica.replicate(.pull, through: transport)
            #expect(second.missingChecked == 0)
            #expect(transport.requests.withLock { $0.map(\.method) } == ["GET", "GET"])
        }
    }

    @available(macOS 14, *)
    @Test("An edit of a document sends only the attachments that it added")
    func knownAttachments() async throws {
        try await RemoteReplica.run { replica in
            let bytes = [UInt8](repeating: 7, count: 300_000)
            try await replica.near.save(["_id": "x"])
            try await replica.near.attachments(of: "x").add(bytes, name: "a")
            let first = try await replica.replicate(.push)
            #expect(first.documentsWritten == 1)
            try await replica.near.save(["_id": "x", "n": 1])
            try await replica.near.attachments(of: "x").add([1, 2], name: "b")
            let transport = FaultyTransport(ClientTransport(timeout: 20))
            let second = try await replica.replicate(.push, through: transport)
            #expect(second.documentsWritten == 1)
            let sent = transport.requests.withLock { requests in
                requests.compactMap { call -> Int64? in
                    if case .stream(_, let length, _) = call.body { length } else { nil }
                }
            }
            #expect(sent.count == 1 && (sent.first ?? 0) < 2_000)
            #expect(try await replica.far.attachments(of: "x").bytes(of: "a") == bytes)
            #expect(try await replica.far.attachments(of: "x").bytes(of: "b") == [1, 2])

            // And the other way.
            try await replica.far.attachments(of: "x").add([3], name: "c")
            let back = FaultyTransport(ClientTransport(timeout: 20))
            let third = try await replica.replicate(.pull, through: back)
            #expect(third.documentsWritten == 1)
            let read = back.requests.withLock { $0.map(\.endpoint).filter { $0.hasPrefix("x/") } }
            #expect(Set(read) == ["x/a", "x/b", "x/c"])
            #expect(try await replica.near.attachments(of: "x").bytes(of: "c") == [3])
        }
    }

    @available(macOS 14, *)
    @Test("Filters by ids and by selector")
    func filters() async throws {
        try await RemoteReplica.run { replica in
            try await replica.far.save((0..<20).map { ["_id": .string("\($0)"), "n": .int32(Int32($0))] })
            let ids = try await replica.replicate(.pull) {
                $0.filter = .ids([BytewiseText("3"), BytewiseText("5")])
            }
            #expect(ids.documentsWritten == 2)
            let selector = try Mango.Selector(["n": ["$gte": 15]])
            let selected = try await replica.replicate(.pull) {
                $0.filter = .selector(selector)
                $0.batchSize = 2
            }
            #expect(selected.documentsWritten == 5)
            #expect(try await Set(replica.leaves().near.keys) == ["3", "5", "15", "16", "17", "18", "19"])
            let rest = try await replica.replicate(.pull) { $0.batchSize = 3 }
            #expect(rest.documentsWritten == 13)
        }
    }

    @available(macOS 14, *)
    @Test("Credentials: wrong ones end it, a session and a renewed token go on")
    func credentials() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["anna": "secret: with a colon"]
        options.lockout.delay = .zero
        try await RemoteReplica.run(options: options) { replica in
            try await replica.near.save(["_id": "x"])
            let failure = await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.push)
                Issue.record("It was replicated without credentials: \(report)")
            }
            #expect(failure?.status == 401)
            let basic = RemoteCredentials.basic("anna", password: "secret: with a colon")
            #expect(try await replica.replicate(.push, credentials: basic).documentsWritten == 1)
            try await replica.near.save(["_id": "y"])
            let session = RemoteCredentials.session("anna", password: "secret: with a colon")
            #expect(try await replica.replicate(.push, credentials: session).documentsWritten == 1)

            // The cookie is refused once: another one is asked for.
            try await replica.near.save(["_id": "z"])
            let transport = FaultyTransport(ClientTransport(timeout: 20)) { call, _ in
                call.headers.contains { $0.value == "Bearer old" } ? .answer(401) : nil
            }
            let asked = Locked(0)
            let token = RemoteCredentials.token {
                asked.withLock { asked in
                    asked += 1
                    return asked == 1 ? "old" : "new"
                }
            }
            await #expect(throws: RemoteFailure.self) {
                // The server knows no tokens: it answers 401 to the new one as well.
                let report = try await replica.replicate(.push, through: transport, credentials: token)
                Issue.record("It was replicated with a token: \(report)")
            }
            #expect(asked.withLock { $0 } == 2)
        }
    }
}
#endif
