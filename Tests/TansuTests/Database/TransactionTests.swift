import Tansu
import TansuTestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
    private struct Refused: Error {}

    @Test("A write is one commit over several collections, and returns the closure's value")
    func commits() throws {
        let db = try Database(.memory)
        let id = try db.write { tx in
            try tx.collection("log").save(["added": 1])
            return try tx.collection("people", of: Person.self).save(.mike)
        }
        #expect(id == BSONValue(Person.mike.id))
        #expect(try db.collection("log").count() == 1)
        #expect(try db.collection("people", of: Person.self).find().all() == [.mike])
    }

    @Test("The closure's error rolls everything back and is rethrown")
    func rollsBack() throws {
        let (db, people) = try fourPeople()
        #expect(throws: Refused.self) {
            try db.write { tx in
                let people = try tx.collection("people")
                try people.save(["_id": 9, "name": "ivan"])
                try people.remove(id: 1)
                try tx.ensureCollection("other")
                try people.ensureIndex("by_age", on: ["age": .ascending])
                throw Refused()
            }
        }
        #expect(try people.names() == ["mike", "rosa", "omar", "lena"])
        #expect(try db.collectionNames() == ["people"])
        #expect(try people.indexes() == [])
        try people.save(["_id": 9, "name": "ivan"])
    }

    @Test("A write sees its own changes, others do not until it is committed")
    func isolation() throws {
        let (db, people) = try fourPeople()
        try db.write { tx in
            let inside = try tx.collection("people")
            try inside.save(["_id": 9, "name": "ivan"])
            #expect(try inside.get(9)?.name == "ivan")
            #expect(try inside.count() == 5)
            #expect(try people.get(9) == nil)
            #expect(try people.count() == 4)
        }
        #expect(try people.count() == 5)
    }

    @Test("A read of a cancelled transaction throws, also when its closure does not")
    func cancelledRead() async throws {
        let (db, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) {
            try db.read { snapshot in
                snapshot.cancel()
                return 5
            }
        }
        #expect(error?.code == .cancelled)
        let later = await #expect(throws: TansuError.self) { try await db.read { $0.cancel() } }
        #expect(later?.code == .cancelled)
        let suspending = await #expect(throws: TansuError.self) {
            try await db.read { snapshot in
                _ = try await people.count()
                snapshot.cancel()
            }
        }
        #expect(suspending?.code == .cancelled)
        // The closure's own error is the more interesting one.
        #expect(throws: Refused.self) {
            try db.read { snapshot in
                snapshot.cancel()
                throw Refused()
            }
        }
        #expect(try await db.read { try $0.collection("people").count() } == 4)
    }

    @Test("A read sees one snapshot, whatever is committed meanwhile")
    func snapshot() throws {
        let (db, people) = try fourPeople()
        let counts = try db.read { snapshot in
            let before = try snapshot.collection("people").count()
            try people.remove([:])
            return [before, try snapshot.collection("people").count(), try people.count()]
        }
        #expect(counts == [4, 4, 0])
    }

    @Test("A write through a read is rejected")
    func readOnly() throws {
        let (db, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) {
            try db.read { try $0.collection("people").remove([:]) }
        }
        #expect(error?.code == .readOnly)
        #expect(try people.count() == 4)
    }

    @Test("A failed call inside a write leaves the rest of it as it was")
    func failedCall() throws {
        let (db, people) = try fourPeople()
        try db.write { tx in
            let inside = try tx.collection("people")
            try inside.save(["_id": 9])
            #expect(throws: TansuError.self) { try inside.insert([["_id": 10], ["_id": 1]]) }
        }
        #expect(try people.get(9) != nil)
        #expect(try people.get(10) == nil)
    }

    @Test("After its end a transaction's collections, queries and cursors throw invalidState")
    func afterTheEnd() throws {
        let (db, _) = try fourPeople()
        let (transaction, cursor) = try db.write { tx in
            let cursor = try tx.collection("people").find().makeCursor()
            #expect(try cursor.next() != nil)
            return (tx, cursor)
        }
        let snapshot = try db.read { $0 }
        let calls: [() throws -> Void] = [
            { _ = try transaction.collection("people").count() },
            { try transaction.collection("people").save(["a": 1]) },
            { _ = try snapshot.collection("people").get(1) },
            { _ = try transaction.collectionNames() },
            { _ = try cursor.next() },
        ]
        for call in calls {
            let error = #expect(throws: TansuError.self) { try call() }
            #expect(error?.code == .invalidState)
        }
        cursor.close()
        try db.close()
    }

    @Test("A write inside a write, or from the same thread during it, is busy and does not wait")
    func nesting() throws {
        let (db, people) = try fourPeople()
        try db.write { tx in
            let nested = #expect(throws: TansuError.self) { try db.write { _ in } }
            #expect(nested?.code == .busy)
            let other = #expect(throws: TansuError.self) { try people.save(["_id": 9]) }
            #expect(other?.code == .busy)
            try tx.collection("people").save(["_id": 10])
        }
        #expect(try people.get(10) != nil)
    }

    @Test("A database does not close inside its transaction")
    func closing() throws {
        let (db, people) = try fourPeople()
        try db.write { tx in
            let error = #expect(throws: TansuError.self) { try db.close() }
            #expect(error?.code == .busy)
            try tx.collection("people").save(["_id": 9])
        }
        #expect(try people.count() == 5)
        try db.close()
    }

    @Test("What a write committed is there after opening again")
    func survives() throws {
        let folder = try TemporaryFolder()
        do {
            let db = try Database(path: folder.path("p"))
            try db.write(durability: .full) { try $0.collection("a").save(["_id": 1]) }
            #expect(throws: Refused.self) {
                try db.write { tx in
                    try tx.collection("a").save(["_id": 2])
                    throw Refused()
                }
            }
        }
        #expect(try Database(path: folder.path("p")).collection("a").find().all() == [["_id": 1]])
    }
}
