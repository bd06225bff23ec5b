import Tansu
import Testing

@Suite("The first screen of the README")
struct ReadmeTests {
    struct Pet: Codable, Sendable { var species: String }
    struct Person: Codable, Sendable, Identifiable {
        var id: ObjectID = ObjectID()
        var name: String
        var age: Int
        var pet: Pet?
    }

    @Test("Open, save and find work as shown")
    func steps() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("people.tansu"))
        let people = try db.collection("people", of: Person.self)
        try people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending])

        try people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        try people.save(Person(name: "rosa", age: 35, pet: Pet(species: "cat")))
        let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }
            .sorted(by: \.age, .descending)
            .limit(10)
            .all()
        #expect(cats.map(\.name) == ["rosa", "mike"])
    }
}
