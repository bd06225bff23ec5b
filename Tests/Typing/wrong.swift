// Each line of a call is an error of its own: an id of another type than the values of the collection have, a loop over a query
// that may throw.
import Foundation
import Tansu

struct Person: Codable, Sendable, Identifiable { var id: UUID; var name: String }

func wrong(_ people: Database.Collection<Person>) throws {
    _ = try people.get(5)
    _ = try people.get("mike")?.name
    _ = try people.get(ids: [5])
    _ = try people.remove(id: 5)
    _ = try people.update(id: 5) { $0.name = "" }
}

func wrong(_ people: Database.Collection<Person>) async throws {
    _ = try await people.get(5)
    _ = try await people.remove(id: ObjectID())
}

func loop(_ people: Database.Collection<Person>) throws {
    for _ in try people.find() {}
    for _ in try people.find({ $0.name == "mike" }) {}
}
