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

    @Test("Open, save, find and watch work as shown")
    func steps() async throws {
        let folder = try TemporaryFolder()
        let db = try await Database.open(.persistent(path: folder.path("people.tansu")))
        let people = try db.collection("people", of: Person.self)
        try await people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending])

        try await people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        try await db.write { transaction in
            let everybody = try transaction.collection("people", of: Person.self)
            try await everybody.remove(["age": ["$lt": 3]])
            try await everybody.save(Person(name: "rosa", age: 35, pet: Pet(species: "cat")))
        }
        let cats = try await people.find { $0.pet.species == "cat" && $0.age > 10 }
            .sorted(by: \.age, .descending)
            .limit(10)
            .all()
        #expect(cats.map(\.name) == ["rosa", "mike"])

        var seen: [[String]] = []
        for try await adults in try people.find({ $0.age >= 18 }).observe() {
            seen.append(adults.map(\.name))
            if seen.count == 2 { break }
            try await people.save(Person(name: "lena", age: 18))
        }
        #expect(seen == [["rosa"], ["rosa", "lena"]])
    }
}
