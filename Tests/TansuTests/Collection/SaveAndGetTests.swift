import Tansu
import TansuTestSupport
import Testing

@Suite("Saving and reading documents")
struct SaveAndGetTests {
    @Test("A saved document is found again, the same in every field")
    func savedIsFound() throws {
        let people = try Database(.memory).collection("people")
        let mike: BSONDocument = [
            "_id": "m", "name": "mike", "age": 12, "height": 1.43, "pet": ["species": "cat"], "tags": ["a", 2, nil],
        ]
        #expect(try people.save(mike) == "m")
        #expect(try people.get("m") == mike)
        #expect(try people.find(["name": "mike"]).all() == [mike])
    }

    @Test("A document without _id gets a new ObjectID as its first field")
    func newID() throws {
        let people = try Database(.memory).collection("people")
        let first = try people.save(["name": "mike"])
        let second = try people.save(["name": "mike"])
        #expect(first != second)
        let id = try #require(first.objectIDValue)
        #expect(try people.get(id)?.first?.key == "_id")
    }

    @Test("Saving an _id again replaces the document")
    func saveReplaces() throws {
        let people = try Database(.memory).collection("people")
        try people.save(["_id": 1, "name": "mike", "age": 12])
        try people.save(["_id": 1, "name": "mika"])
        #expect(try people.count() == 1)
        #expect(try people.get(1) == ["_id": 1, "name": "mika"])
    }

    @Test("Insert rejects an _id that exists, replace one that does not")
    func insertAndReplace() throws {
        let people = try Database(.memory).collection("people")
        try people.insert(["_id": 1, "name": "mike"])
        let taken = #expect(throws: TansuError.self) { try people.insert(["_id": 1, "name": "rosa"]) }
        #expect(taken?.code == .exists)
        let missing = #expect(throws: TansuError.self) { try people.replace(["_id": 2, "name": "rosa"]) }
        #expect(missing?.code == .notFound)
        try people.replace(["_id": 1, "name": "mika"])
        #expect(try people.names() == ["mika"])
    }

    @Test("Many documents are one commit: one invalid document rolls everything back, and the error has its number")
    func manyAreOneCommit() throws {
        let people = try Database(.memory).collection("people")
        let error = #expect(throws: TansuError.self) {
            try people.save([["_id": 1], ["_id": 2], ["_id": ["an", "array"]]])
        }
        #expect(error?.code == .invalidID)
        #expect(error?.offset == 2)
        #expect(try people.count() == 0)
        #expect(try people.save([["_id": 1], ["_id": "two"]]) == [1, "two"])
    }

    @Test("Saving an empty array changes nothing")
    func saveNothing() throws {
        let people = try Database(.memory).collection("people")
        #expect(try people.save([BSONDocument]()) == [])
        #expect(try people.count() == 0)
    }

    @Test("Ids of equal value are one id, whatever their number type")
    func equalIDs() throws {
        let people = try Database(.memory).collection("people")
        try people.save(["_id": 1, "name": "mike"])
        #expect(try people.get(BSONValue.double(1))?.name == "mike")
        #expect(try people.get(BSONValue.int64(1))?.name == "mike")
    }

    @Test("Removing by id returns whether it existed")
    func removeByID() throws {
        let (_, people) = try fourPeople()
        #expect(try people.remove(id: 1))
        #expect(try !people.remove(id: 1))
        #expect(try people.get(1) == nil)
        #expect(try people.count() == 3)
    }

    @Test("Removing by query returns how many matched and keeps the others")
    func removeByQuery() throws {
        let (_, people) = try fourPeople()
        #expect(try people.remove(["pet.species": "cat"]) == 2)
        #expect(try people.names() == ["rosa", "omar"])
        #expect(try people.remove(["pet.species": "cat"]) == 0)
    }

    @Test("A collection that does not exist is empty, and reading does not create it")
    func missingCollection() throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        #expect(try people.get(1) == nil)
        #expect(try people.find().all() == [])
        #expect(try people.count() == 0)
        #expect(try people.remove(["a": 1]) == 0)
        #expect(try people.indexes() == [])
        #expect(try db.collectionNames() == [])
    }
}
