import Foundation
import Tansu
import Testing

/// A folder of its own for a test, removed with everything in it at the end.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("tansu-test-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }
}

struct Pet: Codable, Hashable, Sendable {
    var species: String
}

struct Person: Codable, Hashable, Sendable, Identifiable {
    var id = ObjectID()
    var name: String
    var age: Int
    var pet: Pet?
}

extension Person {
    static let mike = Person(name: "mike", age: 12, pet: Pet(species: "cat"))
    static let rosa = Person(name: "rosa", age: 35, pet: Pet(species: "dog"))
    static let omar = Person(name: "omar", age: 7)
}

extension Database.Collection<BSONDocument> {
    /// The names of documents, which is most of what tests ask about them.
    func names(_ query: BSONDocument = [:], hints: BSONDocument = [:]) throws -> [String] {
        try find(query, hints: hints).all().compactMap { $0.name?.stringValue }
    }
}

/// A memory database with a collection of four people, in this order: mike 12, rosa 35, omar 7, lena 35.
func fourPeople() throws -> (Database, Database.Collection<BSONDocument>) {
    let db = try Database(.memory)
    let people = try db.collection("people")
    try people.save([
        ["_id": 1, "name": "mike", "age": 12, "pet": ["species": "cat"], "tags": ["a", "b"]],
        ["_id": 2, "name": "rosa", "age": 35, "pet": ["species": "dog"], "tags": ["b"]],
        ["_id": 3, "name": "omar", "age": 7],
        ["_id": 4, "name": "lena", "age": 35, "pet": ["species": "cat"]],
    ])
    return (db, people)
}

/// What one task gives and others wait for, so that tests need not sleep.
actor Signal {
    private var isGiven = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func give() {
        isGiven = true
        for waiter in waiters { waiter.resume() }
        waiters.removeAll()
    }

    func wait() async {
        if isGiven { return }
        await withCheckedContinuation { waiters.append($0) }
    }
}
