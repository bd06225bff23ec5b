import Tansu
import TansuTestSupport
import Testing

@Suite("Updates")
struct UpdateTests {
    @Test("An update changes what matches, and counts what matched and what changed")
    func update() throws {
        let (_, people) = try fourPeople()
        let result = try people.update(["age": ["$gt": 10]], ["$max": ["age": 35], "$addToSet": ["tags": "b"]])
        #expect(result.matched == 3)
        #expect(result.modified == 2)
        #expect(result.upserted.isEmpty && result.removed == 0)
        #expect(try people.get(1)?["age"] == 35)
        #expect(try people.get(4)?["tags"] == ["b"])
        #expect(try people.get(3)?["age"] == 7)
    }

    @Test("Hints choose the first, name elements of arrays, and insert what is not there")
    func hints() throws {
        let (_, people) = try fourPeople()
        let one = try people.update([:], ["$set": ["eldest": true]], hints: ["$orderby": ["age": -1], "$max": 1])
        #expect(one.matched == 1)
        #expect(try people.names(["eldest": true]) == ["rosa"])
        try people.update(
            ["_id": 1], ["$set": ["tags.$[old]": "z"]], hints: ["$arrayFilters": [["old": "b"]]])
        #expect(try people.get(1)?["tags"] == ["a", "z"])
        let inserted = try people.update(
            ["_id": 9, "name": "zoe"], ["$set": ["age": 19]], hints: ["$upsert": true])
        #expect(inserted.matched == 0 && inserted.upserted == [9])
        #expect(try people.get(9) == ["_id": 9, "name": "zoe", "age": 19])
    }

    @Test("A document replaces its match by name only; $dropall removes")
    func replaceAndRemove() throws {
        let (_, people) = try fourPeople()
        for forgotten in [["name": "omar", "age": 8], [:], ["set": ["age": 8]]] as [BSONDocument] {
            let error = #expect(throws: TansuError.self) { try people.update(["_id": 3], forgotten) }
            #expect(error?.code == .invalidQuery)
            #expect(error?.message.contains("$replace") == true)
        }
        #expect(try people.replace(["_id": 3], with: ["name": "omar", "age": 8]).modified == 1)
        #expect(try people.get(3) == ["_id": 3, "name": "omar", "age": 8])
        #expect(try people.update(["age": 35], ["$dropall": true]).removed == 2)
        #expect(try people.names() == ["mike", "omar"])
    }

    @Test("An operator that does not apply to one document rolls back, and the error names its location")
    func allOrNothing() throws {
        let (_, people) = try fourPeople()
        try people.save(["_id": 5, "name": "odd", "age": "old"])
        let before = try people.find().all()
        let error = #expect(throws: TansuError.self) { try people.update([:], ["$inc": ["age": 1]]) }
        #expect(error?.code == .invalidQuery)
        #expect(error?.context == "$inc.age")
        #expect(try people.find().all() == before)
        let id = #expect(throws: TansuError.self) { try people.update(["_id": 5], ["$set": ["_id": 6]]) }
        #expect(id?.code == .invalidID)
    }

    @Test("findAndUpdate returns the first match as it was, or as it is")
    func findAndUpdate() throws {
        let (_, people) = try fourPeople()
        let hints: BSONDocument = ["$orderby": ["age": 1], "$fields": ["age": 1]]
        #expect(try people.findAndUpdate([:], ["$inc": ["age": 1]], hints: hints) == ["_id": 3, "age": 7])
        #expect(
            try people.findAndUpdate([:], ["$inc": ["age": 1]], hints: hints, returning: .after)
                == ["_id": 3, "age": 9])
        #expect(try people.findAndUpdate(["name": "nobody"], ["$inc": ["age": 1]], returning: .after) == nil)
        #expect(try people.findAndUpdate(["_id": 9], ["$set": ["age": 1]], hints: ["$upsert": true]) == nil)
        #expect(try people.get(9)?["age"] == 1)
    }

    @Test("findAndRemove removes the first match and returns it, as a value of the collection's type")
    func findAndRemove() throws {
        let people = try Database(.memory).collection("people", of: Person.self)
        try people.save([.mike, .rosa, .omar])
        #expect(try people.findAndRemove([:], hints: ["$orderby": ["age": -1]]) == .rosa)
        #expect(try people.findAndRemove(["age": 35]) == nil)
        #expect(try people.count() == 2)
        let older = try people.findAndUpdate(["name": "mike"], ["$inc": ["age": 1]], returning: .after)
        #expect(older?.age == Person.mike.age + 1)
        #expect(older?.id == Person.mike.id)
    }

    @Test("An update goes with its transaction")
    func transaction() throws {
        struct Stop: Error {}
        let (db, people) = try fourPeople()
        #expect(throws: Stop.self) {
            try db.write { transaction in
                let inside = try transaction.collection("people")
                try inside.update([:], ["$set": ["age": 1]])
                #expect(try inside.count(["age": 1]) == 4)
                #expect(try inside.findAndRemove(["_id": 1])?["name"] == "mike")
                throw Stop()
            }
        }
        #expect(try people.count(["age": 1]) == 0)
        #expect(try people.count() == 4)
    }

    @Test("The async variants do the same")
    func asyncVariants() async throws {
        let people = try fourPeople().1
        let result = try await people.update(["age": 35], ["$inc": ["age": 1]])
        #expect(result.matched == 2 && result.modified == 2)
        #expect(try await people.findAndUpdate(["_id": 1], ["$set": ["age": 2]])?["age"] == 12)
        #expect(try await people.findAndUpdate(["_id": 1], ["$set": ["age": 3]], returning: .after)?["age"] == 3)
        #expect(try await people.findAndRemove(["_id": 1])?["age"] == 3)
        #expect(try await people.count() == 3)
        let error = await #expect(throws: TansuError.self) { try await people.update([:], ["$bad": ["age": 1]]) }
        #expect(error?.code == .invalidQuery)
    }
}
