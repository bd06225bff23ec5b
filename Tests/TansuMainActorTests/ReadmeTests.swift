import Foundation
import Tansu
import TansuTestSupport
import Testing

// The types that are stored, their properties' types too, are no actor's: they are decoded on any thread.
nonisolated struct Pet: Codable, Sendable { var species: String }
// swift-format-ignore
nonisolated struct Person: Codable, Sendable, Identifiable {
    var id = ObjectID()                          // stored as `_id`
    var name: String, age: Int
    var pet: Pet?
}

@Suite("The README in a module that is isolated to the main actor")
@MainActor
struct ReadmeTests {
    @Test("The first example compiles as it is, but for the word nonisolated")
    func sameWords() throws {
        let page = try GuidePage("README.md", testedBy: #filePath)
        let words = { (line: String) in line.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let test = Set(page.test.components(separatedBy: "\n").map(words))
        let example = page.lines.prefix { !$0.hasPrefix(".package") }.map(words)
        #expect(example.count > 20)
        for line in example {
            #expect(test.contains(line) || test.contains("nonisolated " + line), "\(line)")
        }
    }

    @Test("It runs")
    func runs() async throws {
        try example()
        try await whereCallsAreAsync()
    }
}

extension ReadmeTests {
    // swift-format-ignore
    private func example() throws {
        // The file of that name would be where the tests run.
        func Database(path: String) throws -> TansuDatabase { try TansuDatabase(.memory) }

        // 1. Open
        let db = try Database(path: "people.tansu")      // or Database(.memory), Database(.temporary)
        let people = try db.collection("people", of: Person.self)
        try people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending])

        // 2. Save one document, or change several in a transaction
        try people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        try db.write { transaction in
            let everybody = try transaction.collection("people", of: Person.self)
            try everybody.remove(["age": ["$lt": 3]])
            try everybody.save(Person(name: "rosa", age: 35))
        }

        // 3. Find
        let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }.sorted(by: \.name).limit(10).all()
        print(cats.map(\.name))                          // ["mike"]
        #expect(cats.map(\.name) == ["mike"])

        // 4. Observe
        Task {
            for try await adults in try people.find({ $0.age >= 18 }).observe() { print(adults.map(\.name)) }
        }.cancel()
        try db.close()
    }

    private func whereCallsAreAsync() async throws {
        let db = try await Database.open(.memory)
        let people = try db.collection("people", of: Person.self)
        try await people.ensureIndex(on: \.name, \.age, directions: [.ascending, .descending])
        try await people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        try await db.write { transaction in
            let everybody = try transaction.collection("people", of: Person.self)
            try everybody.remove(["age": ["$lt": 3]])
            try everybody.save(Person(name: "rosa", age: 35))
        }
        let cats = try await people.find { $0.pet.species == "cat" && $0.age > 10 }.sorted(by: \.name).limit(10).all()
        #expect(cats.map(\.name) == ["mike"])
        for try await adults in try people.find({ $0.age >= 18 }).observe() {
            #expect(adults.map(\.name) == ["rosa"])
            break
        }
    }
}
