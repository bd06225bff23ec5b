package import Tansu

package struct Pet: Codable, Hashable, Sendable {
    package var species: String

    package init(species: String) {
        self.species = species
    }
}

package struct Person: Codable, Hashable, Sendable, Identifiable {
    package var id: ObjectID
    package var name: String
    package var age: Int
    package var pet: Pet?

    package init(id: ObjectID = ObjectID(), name: String, age: Int, pet: Pet? = nil) {
        self.id = id
        self.name = name
        self.age = age
        self.pet = pet
    }
}

extension Person {
    package static let mike = Person(name: "mike", age: 12, pet: Pet(species: "cat"))
    package static let rosa = Person(name: "rosa", age: 35, pet: Pet(species: "dog"))
    package static let omar = Person(name: "omar", age: 7)
}

extension Database.Collection<BSONDocument> {
    /// The names of documents, which is most of what tests ask about them.
    package func names(_ query: BSONDocument = [:], hints: BSONDocument = [:]) throws -> [String] {
        try find(query, hints: hints).all().compactMap { $0.name?.stringValue }
    }
}

/// A database in memory whose writes wait for long: all tests run at once, so a transaction that awaits may be open for
/// longer than a write waits by default.
package func patientDatabase() throws -> Database {
    try Database(.memory, options: .init(busyTimeout: .seconds(600)))
}

/// A memory database with a collection of four people, in this order: mike 12, rosa 35, omar 7, lena 35.
package func fourPeople() throws -> (Database, Database.Collection<BSONDocument>) {
    let db = try patientDatabase()
    let people = try db.collection("people")
    try people.save([
        ["_id": 1, "name": "mike", "age": 12, "pet": ["species": "cat"], "tags": ["a", "b"]],
        ["_id": 2, "name": "rosa", "age": 35, "pet": ["species": "dog"], "tags": ["b"]],
        ["_id": 3, "name": "omar", "age": 7],
        ["_id": 4, "name": "lena", "age": 35, "pet": ["species": "cat"]],
    ])
    return (db, people)
}
