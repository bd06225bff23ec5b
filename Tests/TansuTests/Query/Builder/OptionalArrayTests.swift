import Foundation
import Tansu
import Testing

@Suite("Optional arrays and sets")
struct OptionalArrayTests {
    private struct Pet: Codable, Sendable, Hashable { var species: String }
    private struct Person: Codable, Sendable, Identifiable {
        var id: Int
        var name: String
        var nick: String?
        var tags: [String] = []
        var pets: [Pet]?
        var numbers: Set<Int> = []
        var optionalNumbers: Set<Int>?
    }

    private let all: [Person] = [
        Person(id: 1, name: "", nick: "", tags: ["x", "y"], pets: [Pet(species: "cat")], optionalNumbers: [4]),
        Person(id: 2, name: "mike", nick: nil, tags: ["y", "x"], pets: [], numbers: [1, 2]),
        Person(id: 3, name: "rosa", nick: "r", tags: [], pets: nil),
        Person(id: 4, name: "\0", nick: "\0", tags: [""], pets: [Pet(species: "dog"), Pet(species: "cat")]),
    ]
    private let people: Database.Collection<Person>

    init() throws {
        people = try Database(.memory).collection("people", of: Person.self)
        try people.save(all)
    }

    private func expect(
        _ condition: (Database.Field<Person>) -> Database.Condition, _ holds: (Person) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let found = try people.find(condition).sorted(by: \.id).all().map(\.id)
        #expect(found == all.filter(holds).map(\.id), sourceLocation: location)
    }

    @Test("They are as others in queries, updates and aggregates")
    func optionalArrays() throws {
        try expect(
            { $0.pets.contains(where: { $0.species == "dog" }) }, { $0.pets?.contains { $0.species == "dog" } == true })
        try expect({ $0.pets.count == 2 }, { $0.pets?.count == 2 })
        try expect({ $0.pets.isEmpty }, { $0.pets?.isEmpty == true })
        try expect({ $0.optionalNumbers.contains(4) }, { $0.optionalNumbers?.contains(4) == true })
        #expect(try people.find().distinct(\.optionalNumbers) == [4])
        #expect(Set(try people.find().distinct(\.pets)) == [Pet(species: "cat"), Pet(species: "dog")])
        #expect(
            Set(try people.find().aggregate(.distinctElements(\.pets))) == [Pet(species: "cat"), Pet(species: "dog")])
        #expect(try people.find().aggregate(.distinctElements(\.numbers)).sorted() == [1, 2])
        #expect(try people.find().aggregate(.distinctElements(\.optionalNumbers)) == [4])
        #expect(try people.find().distinct(\.pets.species).sorted() == ["cat", "dog"])
        try people.update(where: { $0.id == 3 }) {
            $0.append(\.pets, Pet(species: "owl"))
            $0.insert(\.optionalNumbers, 7)
        }
        #expect(try people.get(3)?.pets == [Pet(species: "owl")])
        #expect(try people.get(3)?.optionalNumbers == [7])
    }

    @Test("They are as others with await")
    func withAwait() async throws {
        #expect(try await people.find().distinct(\.optionalNumbers) == [4])
        #expect(Set(try await people.find().distinct(\.pets)) == [Pet(species: "cat"), Pet(species: "dog")])
    }
}
