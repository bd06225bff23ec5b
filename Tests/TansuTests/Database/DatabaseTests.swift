import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Databases")
struct DatabaseTests {
    @Test("What was saved is there after closing and opening again, with its indexes")
    func reopen() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("people.tansu")
        do {
            let db = try Database(path: path)
            let people = try db.collection("people", of: Person.self)
            try people.ensureIndex("by_age", on: ["age": .ascending])
            try people.save([.mike, .rosa])
            try db.close()
        }
        let db = try Database(path: path, options: .init(mustExist: true))
        let people = try db.collection("people", of: Person.self)
        #expect(try people.find(["age": 12]).all() == [.mike])
        #expect(try people.get(Person.rosa.id) == .rosa)
        #expect(try people.indexes().map(\.name) == ["by_age"])
    }

    @Test(
        "A database closes with its last reference, whatever the durability",
        arguments: [Database.Durability.full, .process, .interval(milliseconds: 20)])
    func closesByItself(durability: Database.Durability) throws {
        let folder = try TemporaryFolder()
        for round in 1...3 {
            let people = try Database(path: folder.path("p"), options: .init(durability: durability))
                .collection("people")
            try people.save(["_id": BSONValue(round)])
            #expect(try people.count() == round)
        }
    }

    @Test("After close every call throws closed, and closing again is harmless")
    func closed() throws {
        let (db, people) = try fourPeople()
        try db.close()
        try db.close()
        let calls: [() throws -> Void] = [
            { _ = try people.get(1) }, { _ = try people.find().all() }, { try people.save(["a": 1]) },
            { _ = try people.count() }, { try people.remove([:]) }, { try people.ensureIndex(on: ["a": .ascending]) },
            { try db.write { _ in } }, { try db.read { _ in } }, { _ = try db.stats() }, { try db.sync() },
            { _ = try db.executeJSON("{}") }, { _ = try db.collectionNames() },
        ]
        for call in calls {
            let error = #expect(throws: TansuError.self) { try call() }
            #expect(error?.code == .closed)
        }
    }

    @Test("A database with an open cursor does not close, and stays usable")
    func busy() throws {
        let (db, people) = try fourPeople()
        let cursor = try people.find().makeCursor()
        #expect(try cursor.next() != nil)
        let error = #expect(throws: TansuError.self) { try db.close() }
        #expect(error?.code == .busy)
        #expect(try people.count() == 4)
        cursor.close()
        try db.close()
    }

    @Test("A folder is open once")
    func locked() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("p"))
        let error = #expect(throws: TansuError.self) { try Database(path: folder.path("p")) }
        #expect(error?.code == .locked)
        try db.close()
        try Database(path: folder.path("p")).close()
    }

    @Test("Opening waits for the other opening to be closed, as long as lockTimeout")
    func lockTimeout() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("p"))
        let error = #expect(throws: TansuError.self) {
            try Database(path: folder.path("p"), options: .init(lockTimeout: .milliseconds(20)))
        }
        #expect(error?.code == .locked)
        #expect(error?.message == "The database is already open in this process; close it there first")
        let closing = Thread {
            Thread.sleep(forTimeInterval: 0.05)
            try? db.close()
        }
        closing.start()
        try Database(path: folder.path("p"), options: .init(lockTimeout: .seconds(3600))).close()
        #expect(throws: TansuError.self) { try db.collectionNames() }
    }

    @Test("refresh goes to the newest commit of another opening, and follow does so in each read")
    func refreshAndFollow() throws {
        let folder = try TemporaryFolder()
        let writer = try Database(path: folder.path("p"))
        let numbers = try writer.collection("numbers")
        try numbers.save(["_id": 1])
        let reader = try Database(path: folder.path("p"), options: .init(allowWriter: true))
        let follower = try Database(path: folder.path("p"), options: .init(allowWriter: true, follow: true))
        try numbers.save(["_id": 2])
        #expect(try reader.collection("numbers").count() == 1)
        #expect(try follower.collection("numbers").count() == 2)
        #expect(try reader.refresh())
        #expect(try reader.collection("numbers").count() == 2)
        #expect(try !reader.refresh())
        #expect(try !writer.refresh())
        try reader.close()
        try follower.close()
        try writer.close()
    }

    @Test("stats lists readers, and a reader that keeps more than it may has to refresh")
    func readers() throws {
        let folder = try TemporaryFolder()
        let writer = try Database(path: folder.path("p"), options: .init(segmentSize: 1 << 20, compactionPercent: 0))
        let notes = try writer.collection("notes")
        let text = BSONValue(String(repeating: "x", count: 1 << 20))
        for _ in 0..<4 { try notes.save(["_id": 1, "text": text]) }
        let reader = try Database(path: folder.path("p"), options: .init(allowWriter: true, maxPinnedBytes: 1 << 20))
        let listed = try #require(try writer.stats()["readers"]?.arrayValue?.first?.documentValue)
        #expect(listed["process"] == .int64(Int64(ProcessInfo.processInfo.processIdentifier)))
        try writer.compact()
        try writer.checkpoint()
        let error = #expect(throws: TansuError.self) { try reader.collection("notes").count() }
        #expect(error?.code == .tooLarge)
        try reader.refresh()
        #expect(try reader.collection("notes").count() == 1)
        try reader.close()
        #expect(try writer.stats()["readers"] == nil)
        try writer.close()
    }

    @Test("allowWriter reads the commits before the opening, while another opening writes")
    func allowWriter() throws {
        let folder = try TemporaryFolder()
        let writer = try Database(path: folder.path("p"))
        let numbers = try writer.collection("numbers")
        try numbers.save(["_id": 1])
        let reader = try Database(path: folder.path("p"), options: .init(allowWriter: true))
        try numbers.save(["_id": 2])
        try writer.checkpoint()
        #expect(try reader.collection("numbers").count() == 1)
        let error = #expect(throws: TansuError.self) { try reader.collection("numbers").save(["_id": 3]) }
        #expect(error?.code == .readOnly)
        let later = try Database(path: folder.path("p"), options: .init(allowWriter: true))
        #expect(try later.collection("numbers").count() == 2)
        try writer.close()
        #expect(try reader.collection("numbers").count() == 1)
        try reader.close()
        try later.close()
    }

    @Test("mustExist makes no folder, readOnly writes nothing")
    func options() throws {
        let folder = try TemporaryFolder()
        let missing = #expect(throws: TansuError.self) {
            try Database(path: folder.path("p"), options: .init(mustExist: true))
        }
        #expect(missing?.code == .notFound)
        #expect(!FileManager.default.fileExists(atPath: folder.path("p")))

        try Database(path: folder.path("p")).collection("c").save(["_id": 1])
        let db = try Database(path: folder.path("p"), options: .init(readOnly: true))
        #expect(try db.collection("c").count() == 1)
        let rejected = #expect(throws: TansuError.self) { try db.collection("c").save(["_id": 2]) }
        #expect(rejected?.code == .readOnly)
    }

    @Test("A temporary database removes its folder")
    func temporary() throws {
        let folder = try TemporaryFolder()
        let db = try Database(.temporary(in: folder.url.path))
        try db.collection("c").save(["_id": 1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
        try db.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test("Collections are created, listed, renamed and dropped")
    func collections() throws {
        let (db, _) = try fourPeople()
        try db.ensureCollection("empty")
        try db.ensureCollection("empty")
        #expect(try db.collectionNames() == ["empty", "people"])
        #expect(try db.collections().map(\.documents) == [0, 4])
        try db.renameCollection("people", to: "persons")
        #expect(try db.collection("persons").count() == 4)
        #expect(try db.removeCollection("empty"))
        #expect(try !db.removeCollection("empty"))
        #expect(try db.collectionNames() == ["persons"])
        let error = #expect(throws: TansuError.self) { try db.renameCollection("nothing", to: "x") }
        #expect(error?.code == .notFound)
    }

    @Test("Invalid names are rejected", arguments: ["", "nul\0inside", String(repeating: "x", count: 121)])
    func names(name: String) throws {
        let db = try Database(.memory)
        let error = #expect(throws: TansuError.self) { try db.collection(name).save(["a": 1]) }
        #expect(error?.code == .invalidName)
    }

    @Test("A path with a NUL is rejected rather than truncated")
    func pathWithNUL() throws {
        let folder = try TemporaryFolder()
        #expect(throws: TansuError.self) { try Database(path: folder.path("a") + "\0b") }
        #expect(!FileManager.default.fileExists(atPath: folder.path("a")))
    }

    @Test("JSON commands respond in JSON, also with errors")
    func json() throws {
        let (db, _) = try fourPeople()
        let answer = try db.executeJSON(#"{"op": "count", "collection": "people", "query": {"age": 35}}"#)
        #expect(try BSONDocument(extendedJSON: answer) == ["ok": true, "count": 2])
        let wrong = try BSONDocument(extendedJSON: try db.executeJSON(#"{"op": "fly"}"#))
        #expect(wrong.ok == false)
        #expect(wrong[path: "error.code"]?.stringValue == "INVALID_COMMAND")
    }

    @Test("Stats count documents; sync and checkpoint keep them")
    func maintenance() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("p"), options: .init(durability: .process))
        try db.collection("c").save([["_id": 1], ["_id": 2]])
        try db.sync()
        try db.checkpoint()
        #expect(try db.stats()["collections"]?.arrayValue?.first?.documentValue?.documents?.intValue == 2)
        #expect(try db.collection("c").count() == 2)
    }
}
