import Foundation
import Tansu
import TansuTestSupport
import Testing

// GettingStarted.md, Tansu.md and the README.
extension GuideExampleTests {
    @Test func landingPage() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        let cats = try people.find { $0.pet.species == "cat" }.sorted(by: \.age, .descending)
        print(try cats.all().map(\.name))  // ["mike"]

        #expect(try printed.lines == shown(by: "Tansu"))
    }

    @Test func gettingStarted() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Pet: Codable, Sendable { var species: String }
        struct Person: Codable, Sendable, Identifiable {
            var id = ObjectID()  // stored as `_id`
            var name: String
            var age: Int
            var pet: Pet?
        }

        let db = try Database(.memory)  // or Database(path: "people.tansu")
        let people = try db.collection("people", of: Person.self)

        let mike = Person(name: "mike", age: 12, pet: Pet(species: "cat"))
        try people.save(mike)
        try people.save([Person(name: "rosa", age: 35), Person(name: "omar", age: 7)])

        print(try people.get(mike.id)?.name ?? "nobody")  // mike
        let grown = try people.find { $0.age > 10 }.sorted(by: \.age, .descending)
        print(try grown.all().map(\.name))  // ["rosa", "mike"]

        try people.update(id: mike.id) { $0.age += 1 }
        try people.update(["pet": ["$exists": false]], ["$set": ["pet": ["species": "dog"]]])
        try people.remove { $0.age < 10 }
        print(try people.find { $0.pet.species == "dog" }.first()?.name ?? "nobody")  // rosa

        let visits = try db.collection("visits")
        try visits.save(["page": "/", "seconds": 3, "from": ["country": "JP"]])
        let first = try visits.find(["from.country": "JP"]).first()
        print(first?[path: "from.country"]?.stringValue ?? "nowhere")  // JP

        do {
            try people.insert(mike)
        } catch let error as TansuError where error.code == .exists {
            print(error.code)  // EXISTS
        }

        #expect(try printed.lines == shown(by: "GettingStarted"))
    }

    @Test func readme() async throws {
        struct Pet: Codable, Sendable { var species: String }
        struct Person: Codable, Sendable, Identifiable {
            var id: ObjectID = ObjectID()
            var name: String
            var age: Int
            var pet: Pet?
        }

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
