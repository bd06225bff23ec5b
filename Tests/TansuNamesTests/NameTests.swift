import Tansu
import Testing

// As GRDB and other libraries, and programs of their own, name types.
private struct Database {}
private struct Collection {}
private struct Query {}
private enum Tansu {}

@Suite("Names beside others")
struct NameTests {
    @Test("A module with types named Database and Tansu uses the library by its own names")
    func ownNames() throws {
        let db = try TansuDatabase(.memory)
        let people: TansuCollection<BSONDocument> = try db.collection(
            "people", indexes: [TansuDatabase.Index(on: ["name": .ascending], unique: true)])
        try people.save(["_id": 1, "name": "mike"])
        let query: TansuQuery<BSONDocument> = people.find(["name": "mike"])
        #expect(try query.count() == 1)
        _ = (Database(), Collection(), Query(), Tansu.self)
    }
}
