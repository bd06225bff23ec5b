#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Store: an ObjectId and the text of its digits")
struct SameIDTests {
    @available(macOS 14, *)
    @Test("An ObjectId and the same digits as text", .timeLimit(.minutes(20)))
    func objectIDs() async throws {
        let hex = "507f1f77bcf86cd799439011"
        let id = try #require(ObjectID(hex))
        // Both in one collection are refused.
        let both = try Database(.memory).collection("both")
        try await both.save(["_id": .objectID(id)])
        try await both.save(["_id": .string(hex)])
        let error = await #expect(throws: SyncError.self) { _ = try await both.enableReplication() }
        #expect(error?.code == .unusableID)
        // One on each side is one document.
        let a = try Database(.memory).collection("a")
        let b = try Database(.memory).collection("b")
        try await a.save(["_id": .objectID(id), "from": "a"])
        try await b.save(["_id": .string(hex), "from": "b"])
        let progress = try await a.replicate(with: b).wait()
        #expect(progress.failedDocuments == 0)
        #expect(try await a.count() == 1)
        #expect(try await b.count() == 1)
        let (mine, other) = (try #require(await a.get(id)), try #require(await b.get(hex)))
        #expect(mine["from"] == other["from"])
        // A document that comes to be beside it later is named, and nothing else is harmed.
        try await a.save(["_id": .string(hex), "from": "later"])
        await #expect(throws: SyncError.self) { _ = try await a.replicate(with: b).wait() }
        _ = try await a.remove(id: hex)
        try await a.save(["_id": .objectID(id), "from": "edited"])
        _ = try await a.replicate(with: b).wait()
        #expect(try await b.get(hex)?["from"] == "edited")
    }

    @Test("A document that takes the other id of a removed one is an edit of it")
    func switched() throws {
        let people = try Database(.memory).collection("people")
        let id = try #require(ObjectID("507f1f77bcf86cd799439011"))
        try people.save(["_id": .string("507f1f77bcf86cd799439011"), "n": 1])
        try people.enableReplication()
        let first = try #require(try people.revision(of: "507f1f77bcf86cd799439011"))
        try people.remove(id: "507f1f77bcf86cd799439011")
        try people.save(["_id": .objectID(id), "n": 2])
        let second = try #require(try people.revision(of: id))
        #expect(first.generation == 1 && second.generation == 2)
        // Removed first, seen, and then saved with the other id.
        try people.remove(id: id)
        #expect(try people.revision(of: id) == nil)
        try people.save(["_id": .string("507f1f77bcf86cd799439011"), "n": 3])
        #expect(try people.revision(of: "507f1f77bcf86cd799439011")?.generation == 4)
        #expect(try people.count() == 1)
    }
}
#endif
