import Tansu
import TansuTestSupport
import Testing

@Suite("Cursors")
struct CursorTests {
    @Test("A cursor steps through every document and then stays at its end")
    func steps() throws {
        let (_, people) = try fourPeople()
        let cursor = try people.find().sorted(by: "age").makeCursor()
        var names: [BSONValue?] = []
        while let person = try cursor.next() { names.append(person.name) }
        #expect(names == ["omar", "mike", "rosa", "lena"])
        #expect(try cursor.next() == nil)
    }

    @Test("A cursor sees the snapshot in which it was made, whatever is written meanwhile")
    func outlivesChanges() throws {
        let (db, people) = try fourPeople()
        let cursor = try people.find().makeCursor()
        #expect(try cursor.next()?.name == "mike")
        try people.remove([:])
        try people.save(["_id": 2, "name": "other"])
        try db.checkpoint()
        var names: [BSONValue?] = []
        while let person = try cursor.next() { names.append(person.name) }
        #expect(names == ["rosa", "omar", "lena"])
        #expect(try people.names() == ["other"])
    }

    @Test("A closed cursor has no more documents, and closing again is harmless")
    func closes() throws {
        let (db, people) = try fourPeople()
        let cursor = try people.find().makeCursor()
        #expect(try cursor.next() != nil)
        cursor.close()
        cursor.close()
        #expect(try cursor.next() == nil)
        try db.close()
    }

    @Test("forEach continues to the end, or to the closure's error")
    func forEach() throws {
        struct Enough: Error {}
        let (db, people) = try fourPeople()
        var seen = 0
        try people.find().forEach { _ in seen += 1 }
        #expect(seen == 4)
        #expect(throws: Enough.self) { try people.find().forEach { _ in throw Enough() } }
        try db.close()
    }

    @Test("After a document that cannot be decoded the cursor continues")
    func goesOn() throws {
        let db = try Database(.memory)
        try db.collection("people").save([["name": "mike"], ["name": 5], ["name": "rosa"]])
        struct Name: Codable, Sendable { var name: String }
        let cursor = try db.collection("people", of: Name.self).find().makeCursor()
        #expect(try cursor.next()?.name == "mike")
        #expect(throws: DecodingError.self) { try cursor.next() }
        #expect(try cursor.next()?.name == "rosa")
        #expect(try cursor.next() == nil)
    }

    @Test("As a sequence it continues after a document that cannot be decoded, but not after another error")
    func results() throws {
        let db = try Database(.memory)
        try db.collection("people").save([["name": "mike"], ["name": 5], ["name": "rosa"]])
        struct Name: Codable, Sendable { var name: String }
        let names = try db.collection("people", of: Name.self)
        let found = try names.find().makeCursor().results.map { try? $0.get().name }
        #expect(found == ["mike", nil, "rosa"])
        let cursor = try names.find().makeCursor()
        cursor.cancel()
        let stopped = Array(cursor.results)
        #expect(stopped.count == 1)
        #expect(throws: TansuError.self) { try stopped.first?.get() }
        cursor.close()
        try db.close()
    }

    @Test("A type may read other documents while it is decoded, in a transaction too")
    func decodingReads() throws {
        let (db, _) = try fourPeople()
        let count: (Database.Collection<BSONDocument>) throws -> [Int] = { people in
            try CountingPerson.$people.withValue(people) {
                try people.decoded(as: CountingPerson.self).find(["age": 35]).all().map(\.others)
            }
        }
        #expect(try count(db.collection("people")) == [3, 3])
        #expect(try db.read { try count($0.collection("people")) } == [3, 3])
    }

    @Test("A cursor that is stepped or closed while its own document is decoded neither crashes nor skips")
    func decodingSteps() throws {
        let (db, people) = try fourPeople()
        let cursor = try people.decoded(as: SteppingPerson.self).find().makeCursor()
        let error = #expect(throws: TansuError.self) {
            try SteppingPerson.$step.withValue({ _ = try cursor.next() }) { try cursor.next() }
        }
        #expect(error?.code == .invalidState)
        let rosa = try SteppingPerson.$step.withValue({ cursor.close() }) { try cursor.next() }
        #expect(rosa?.name == "rosa")
        #expect(try cursor.next() == nil)
        try db.close()
    }
}

/// Counts the others of its collection while it is decoded.
private struct CountingPerson: Codable, Sendable {
    @TaskLocal static var people: Database.Collection<BSONDocument>?

    var others: Int

    init(from decoder: any Decoder) throws {
        others = try (Self.people?.count() ?? 0) - 1
    }
}

/// Does something before it reads its name.
private struct SteppingPerson: Codable, Sendable {
    @TaskLocal static var step: (@Sendable () throws -> Void)?

    var name: String

    init(from decoder: any Decoder) throws {
        try Self.step?()
        name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    }
}
