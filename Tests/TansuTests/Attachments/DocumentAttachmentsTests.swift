import Foundation
import TansuBSON
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Attachments of documents")
struct DocumentAttachmentsTests {
    private let folder: TemporaryFolder
    private let database: Database
    private let people: Database.Collection<BSONDocument>

    init() throws {
        folder = try TemporaryFolder()
        database = try Database(path: folder.path("db.tansu"))
        people = try database.collection("people")
        try people.save([["_id": "mike"], ["_id": "anna"]])
    }

    private func code(_ body: () throws -> Void) -> TansuError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TansuError)?.code
        }
    }

    private func chunks() throws -> Int { try database.collection(BlobLayout.chunks).count() }

    @Test("Adding, listing, reading, replacing, removing")
    func basics() throws {
        let mike = people.attachments(of: "mike")
        #expect(try mike.list().isEmpty && mike.attachment("a") == nil)
        let added = try mike.add("hello".utf8, name: "a.txt", type: "text/plain")
        #expect(added.name == "a.txt" && added.contentType == "text/plain" && added.length == 5)
        #if TansuSync
        #expect(added.isCompressed && added.storedLength == 25 && added.digest == "md5-iMaiC8wqiFlD2NjLTemvCQ==")
        #else
        #expect(!added.isCompressed && added.storedLength == 5 && added.digest == "md5-XUFAKrxLKna5cZ2REBfFkg==")
        #endif
        try mike.add([1, 2, 3], name: "")
        #expect(try mike.list().map(\.name) == ["a.txt", ""])
        #expect(try mike.list()[1].contentType == "application/octet-stream")
        #expect(try mike.bytes(of: "a.txt") == Array("hello".utf8))
        #expect(try mike.bytes(of: "a.txt", range: 1..<3) == Array("el".utf8))
        try mike.add([9], name: "a.txt")
        #expect(try mike.list().map(\.name) == ["a.txt", ""])
        #expect(try mike.bytes(of: "a.txt") == [9])
        #expect(try people.attachments(of: "anna").list().isEmpty)
        #expect(try mike.remove("a.txt"))
        #expect(try !mike.remove("a.txt"))
        #expect(try mike.removeAll() && !mike.removeAll())
        #expect(try mike.list().isEmpty)
        // What was replaced and removed is gone from the disk.
        #expect(try chunks() == 0)
    }

    @Test("What cannot be done gives an error and changes nothing")
    func errors() throws {
        let mike = people.attachments(of: "mike")
        #expect(code { try people.attachments(of: "nobody").add([1], name: "a") } == .notFound)
        #expect(code { try mike.add([1], name: "_a") } == .invalidName)
        #expect(code { _ = try mike.bytes(of: "a") } == .notFound)
        try mike.add([1, 2, 3], name: "a")
        #expect(code { _ = try mike.bytes(of: "a", limit: 2) } == .tooLarge)
        #expect(code { _ = try mike.bytes(of: "a", range: 3..<4) } == .invalidArgument)
        #expect(try mike.bytes(of: "a", range: 0..<2, limit: 2) == [1, 2])
        #expect(throws: CocoaError.self) { try mike.add(contentsOf: folder.url.appendingPathComponent("none")) }
        #expect(try mike.list().count == 1)
        #expect(try chunks() == 1)
    }

    @Test("Files and sequences of bytes")
    func sources() async throws {
        let bytes = BlobTests.random(3 * BlobLayout.chunkSize + 100)
        let url = folder.url.appendingPathComponent("photo.png")
        try Data(bytes).write(to: url)
        let mike = people.attachments(of: "mike")
        let photo = try await mike.add(contentsOf: url, type: "image/png")
        #expect(photo.name == "photo.png")
        try await mike.add(contentsOf: url, name: "async")
        try await mike.add(bytes, name: "bytes")
        let single = AsyncStream { continuation in
            for byte in bytes { continuation.yield(byte) }
            continuation.finish()
        }
        try await mike.add(single, name: "single")
        let pieces = AsyncStream { continuation in
            for start in stride(from: 0, to: bytes.count, by: 999) {
                continuation.yield(Data(bytes[start..<min(start + 999, bytes.count)]))
            }
            continuation.finish()
        }
        try await mike.add(pieces, name: "pieces")
        let list = try await mike.list()
        #expect(list.map(\.name) == ["photo.png", "async", "bytes", "single", "pieces"])
        #expect(Set(list.map(\.digest)).count == 1)
        for file in list { #expect(try await mike.bytes(of: file.name) == bytes) }
        #expect(try chunks() == 4)
        #expect(try await mike.attachment("pieces")?.length == Int64(bytes.count))
        #expect(try await mike.remove("pieces"))
        #expect(try await mike.removeAll())
    }

    struct Cut: Error {}

    @Test("A sequence that fails adds nothing")
    func failingSequence() async throws {
        let mike = people.attachments(of: "mike")
        let stream = AsyncThrowingStream<[UInt8], any Error> { continuation in
            for seed in 0..<40 { continuation.yield(BlobTests.random(BlobLayout.chunkSize, UInt64(seed))) }
            continuation.finish(throwing: Cut())
        }
        await #expect(throws: Cut.self) { try await mike.add(stream, name: "a") }
        #expect(try await mike.list().isEmpty)
        #expect(try chunks() == 0)
    }

    @Test("A stream reads pieces, and stays readable when the attachment is removed")
    func streams() async throws {
        let bytes = BlobTests.random(5 * BlobLayout.chunkSize + 1)
        let mike = people.attachments(of: "mike")
        try await mike.add(bytes, name: "a")
        var stream: AttachmentBytes? = try await mike.stream(of: "a")
        var iterator = stream?.makeAsyncIterator()
        stream = nil
        var read = try #require(try await iterator?.next())
        #expect(read.count == BlobLayout.chunkSize)
        try await people.remove(id: "mike")
        #expect(try await database.removeUnusedAttachments() == 0)
        while let piece = try await iterator?.next() { read += piece }
        #expect(read == bytes)
        iterator = nil
        #expect(try await database.removeUnusedAttachments() == Int64(bytes.count))
        await #expect(throws: TansuError.self) { _ = try await mike.stream(of: "a") }
        var part: [UInt8] = []
        try await people.save(["_id": "mike"])
        try await mike.add(bytes, name: "a")
        for try await piece in try await mike.stream(of: "a", range: 5..<300_000) { part += piece }
        #expect(part == Array(bytes[5..<300_000]))
    }

    @Test("Attachments go with their document, however it is removed")
    func removal() throws {
        for remove in [
            { try people.remove(id: "mike") }, { try people.remove(["_id": "mike"]) > 0 },
            { try database.dropCollection("people") },
        ] as [() throws -> Bool] {
            try people.save([["_id": "mike"], ["_id": "anna"]])
            try people.attachments(of: "mike").add([1, 2, 3], name: "a")
            // A replaced document keeps them.
            try people.save(["_id": "mike", "age": 5])
            #expect(try people.attachments(of: "mike").list().count == 1)
            #expect(try remove())
            #expect(try people.attachments(of: "mike").list().isEmpty)
            #expect(try database.removeUnusedAttachments() == 3)
            try people.save(["_id": "mike"])
            #expect(try people.attachments(of: "mike").list().isEmpty)
        }
    }

    @Test("Attachments follow when their collection is renamed, and another one can take its name")
    func renaming() throws {
        try people.attachments(of: "mike").add([1], name: "a")
        try database.renameCollection("people", to: "humans")
        let humans = try database.collection("humans")
        #expect(try humans.attachments(of: "mike").bytes(of: "a") == [1])
        #expect(try people.attachments(of: "mike").list().isEmpty)
        try people.save(["_id": "mike"])
        try people.attachments(of: "mike").add([2, 2], name: "b")
        #expect(try people.attachments(of: "mike").list().map(\.name) == ["b"])
        #expect(try humans.attachments(of: "mike").list().map(\.name) == ["a"])
        try humans.remove(id: "mike")
        #expect(try database.removeUnusedAttachments() == 1)
        #expect(try people.attachments(of: "mike").bytes(of: "b") == [2, 2])
        #expect(
            try Set(database.collectionNames()).isSuperset(of: [
                "tansu.attachments.people", "tansu.attachments.humans",
            ]))
    }

    @Test("In a transaction all of it is one commit")
    func transactions() async throws {
        struct Stop: Error {}
        let bytes = BlobTests.random(20 * BlobLayout.chunkSize)
        func rolledBack() throws {
            try database.write { transaction in
                let people = try transaction.collection("people")
                try people.save(["_id": "new"])
                try people.attachments(of: "new").add(bytes, name: "a")
                #expect(try people.attachments(of: "new").bytes(of: "a") == bytes)
                throw Stop()
            }
        }
        #expect(throws: Stop.self) { try rolledBack() }
        #expect(try chunks() == 0)
        #expect(try await people.attachments(of: "new").list().isEmpty)
        try await database.write { transaction async throws in
            let people = try transaction.collection("people")
            try await people.save(["_id": "new"])
            try await people.attachments(of: "new").add(bytes, name: "a")
            try await people.attachments(of: "new").add([5], name: "b")
            try await people.attachments(of: "new").remove("b")
            var read: [UInt8] = []
            for try await piece in try await people.attachments(of: "new").stream(of: "a") { read += piece }
            #expect(read == bytes)
        }
        #expect(try await people.attachments(of: "new").bytes(of: "a") == bytes)
        #expect(try await database.removeUnusedAttachments() == 1)
    }

    struct Person: Codable, Identifiable, Sendable {
        var id: UUID
    }

    @Test("Ids of every kind: those of values, ObjectIds, numbers")
    func ids() throws {
        let typed = try database.collection("typed", of: Person.self)
        let person = Person(id: UUID())
        try typed.save(person)
        try typed.attachments(of: person.id).add([1], name: "a")
        #expect(try typed.attachments(of: person.id).list().count == 1)
        let other = try database.collection("other")
        for id: BSONValue in [.objectID(ObjectID()), 5, ["a": 1]] {
            try other.save(["_id": id])
            try other.attachments(of: id).add([1], name: "a")
            #expect(try other.attachments(of: id).list().count == 1)
            try other.remove(id: id)
            #expect(try other.attachments(of: id).list().isEmpty)
        }
    }

    @Test("A list that is damaged gives an error")
    func damage() throws {
        let mike = people.attachments(of: "mike")
        try mike.add([1], name: "a")
        let records = try database.collection("tansu.attachments.people")
        for files: BSONValue in [5, [5], [["name": "a"]]] {
            try records.save(["_id": "mike", "files": files])
            #expect(code { _ = try mike.list() } == .corrupt)
        }
    }
}
