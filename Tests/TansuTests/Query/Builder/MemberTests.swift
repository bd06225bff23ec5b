import Foundation
import Tansu
import Testing

@Suite("What text and arrays have beside their stored value")
struct MemberTests {
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

    @Test("Text is empty, optional or not")
    func isEmpty() throws {
        try expect({ $0.name.isEmpty }, { $0.name.isEmpty })
        try expect({ !$0.name.isEmpty && $0.id > 1 }, { !$0.name.isEmpty && $0.id > 1 })
        try expect({ $0.nick.isEmpty }, { $0.nick?.isEmpty == true })
        try expect({ !$0.nick.isEmpty }, { $0.nick?.isEmpty != true })
        try expect({ $0.tags.contains { $0.isEmpty } }, { $0.tags.contains { $0.isEmpty } })
        try expect({ $0.pets.contains { $0.species.isEmpty } }, { $0.pets?.contains { $0.species.isEmpty } == true })
    }

    @Test("Arrays have a first element")
    func first() throws {
        try expect({ $0.tags.first == "x" }, { $0.tags.first == "x" })
        try expect({ $0.tags.first != "x" }, { $0.tags.first != "x" })
        try expect({ $0.tags.first == nil }, { $0.tags.first == nil })
        try expect({ $0.tags.first != nil }, { $0.tags.first != nil })
        try expect({ $0.tags.first.isEmpty }, { $0.tags.first?.isEmpty == true })
        try expect({ $0.pets.first.species == "cat" }, { $0.pets?.first?.species == "cat" })
        try expect({ $0.pets.first == nil }, { $0.pets?.first == nil })
        #expect(throws: TansuError.self) { try people.find { $0.numbers.first == 1 }.count() }
        #expect(throws: TansuError.self) { try people.find { $0.optionalNumbers.first == 1 }.count() }
    }
}
