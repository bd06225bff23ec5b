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
        var marks: [String: Int] = [:]
    }

    private let all: [Person] = [
        Person(id: 1, name: "", nick: "", tags: ["x", "y"], pets: [Pet(species: "cat")], optionalNumbers: [4]),
        Person(id: 2, name: "mike", nick: nil, tags: ["y", "x"], pets: [], numbers: [1, 2]),
        Person(id: 3, name: "rosa", nick: "r", tags: [], pets: nil),
        Person(id: 4, name: "\0", nick: "\0", tags: [""], pets: [Pet(species: "dog"), Pet(species: "cat")]),
    ]
    private let db: Database
    private let people: Database.Collection<Person>

    init() throws {
        db = try Database(.memory)
        people = try db.collection("people", of: Person.self)
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

    @Test("A key of digits is that of a dictionary, and no element")
    func keysOfDigits() throws {
        let documents = try db.collection("people")
        try documents.update([:], ["$set": ["marks": ["0": .null]]])
        #expect(try people.find { $0.marks["0"] == nil }.count() == 4)
        try documents.update(["_id": 1], ["$set": ["marks": ["0": 5]]])
        #expect(try people.find { $0.marks["0"] == nil }.count() == 3)
        #expect(try people.find { $0.marks["0"] != nil }.count() == 1)
    }

    /// A property of a field, as `$0.name.utf8`, but without the compiler's warning for text.
    private func member<Value, Member>(
        _ field: Database.Field<Value>, _ keyPath: KeyPath<Value, Member>
    ) -> Database.Field<Member> { field[dynamicMember: keyPath] }

    @Test("What Swift computes of a text is an error that names it and says what to do instead")
    func computed() throws {
        func message(_ condition: (Database.Field<Person>) -> Database.Condition) -> String {
            let error = #expect(throws: TansuError.self) { try people.find(condition) }
            #expect(error?.code == .invalidQuery)
            return error?.message ?? ""
        }
        let messages = [
            ("\"utf8\"", message { member($0.name, \.utf8).count == 3 }),
            ("\"description\"", message { member($0.name, \.description) == "mike" }),
            ("\"hashValue\"", message { member($0.name, \.hashValue) == 1 }),
            ("\"utf8\"", message { $0.tags.contains { member($0, \.utf8).count == 3 } }),
            ("it", message { $0[dynamicMember: \.name.utf8.count] == 3 }),
        ]
        for (name, message) in messages {
            #expect(message.contains("\(name) is computed by \"String\""), "\(message)")
            #expect(message.contains("hasPrefix") && message.contains("filter the results in Swift"), "\(message)")
        }
        let error = #expect(throws: TansuError.self) { try people.find().sorted(by: \.nick?.utf8.count) }
        #expect(error?.message.contains("computed by \"String\"") == true)
    }
}
