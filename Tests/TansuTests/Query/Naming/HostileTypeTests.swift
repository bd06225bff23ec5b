import Foundation
import Tansu
import Testing

@Suite("Queries by key path never show a type a value that nobody stored")
struct HostileTypeTests {
    private func collection<Element: Codable & Sendable>(
        _ elements: [Element]
    ) throws -> Database.Collection<Element> {
        let all = try Database(.memory).collection("all", of: Element.self)
        for element in elements { try all.save(element) }
        return all
    }

    private func message(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
        return error?.message ?? ""
    }

    @Test("A decoder that traps is not given a made-up value, on an empty collection or any other")
    func trapping() throws {
        let empty = try collection([Trapping]())
        #expect(try empty.find { $0.q == 1 && $0.label == "x" }.all() == [])
        #expect(try empty.find().sorted(by: \.label).all() == [])
        for (q, _) in try empty.find().groups(by: \.q, .count) { Issue.record("a group of \(q)") }
        #expect(try empty.find().projected(to: Trapping.self).all() == [])
        let all = try collection([Trapping(id: 1, q: 1, label: "x"), Trapping(id: 2, q: 2, label: "x")])
        // Only what the query excludes cannot be decoded.
        try all.decoded(as: BSONDocument.self).save(["_id": 0, "q": 77, "l": "x"])
        #expect(try all.find { $0.q == 1 && $0.label == "x" }.all().map(\.id) == [1])
        #expect(try all.find { $0.q < 9 }.sorted(by: \.q, .descending).all().map(\.id) == [2, 1])
    }

    @Test("A decoder that counts sees stored values only")
    func counting() throws {
        let all = try collection([Counting(id: 1, code: "a"), Counting(id: 2, code: "b")])
        #expect(try all.find { $0.code == "b" }.filter == ["c": "b"])
        _ = try all.find().sorted(by: \.code).projected(to: Counting.self).all()
        #expect(Set(Counting.sightings.all).isSubset(of: ["1 a", "2 b"]))
    }

    @Test("A decoder that goes on after an error gets an error each time")
    func insistent() throws {
        let all = try collection([Insistent(id: 1, name: "a")])
        #expect(try all.find { $0.name == "a" }.all() == [Insistent(id: 1, name: "a")])
        #expect(Set(Insistent.sightings.all) == ["keyed 1 a"])
    }

    private static let customers = (0..<24).map { n in
        Customer(
            id: UUID(), displayName: "name \(n % 5)", email: Email("\(n)@example.com"),
            backup: n % 3 == 0 ? nil : Email("\(n % 4)@example.org"), balance: Money(n % 4 * 100, "EUR"),
            payment: n % 2 == 0 ? .cash : .card("\(n % 6)"), calendar: Calendar(identifier: .gregorian),
            priority: Priority.allCases[n % 3], colors: n % 4 == 0 ? nil : Color(rawValue: n % 4),
            deletedAt: n % 5 == 0 ? Date(timeIntervalSince1970: Double(n)) : nil,
            home: n % 2 == 0 ? nil : Customer.Address(id: n % 3, city: "city \(n % 3)", email: Email("\(n)@home")),
            address: Customer.Address(id: n % 7, city: "town \(n % 2)"))
    }

    private func expectSame(
        _ condition: (Database.Field<Customer>) -> Database.Condition, _ plain: (Customer) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let customers = try collection(Self.customers)
        let query = try customers.find(condition)
        let expected = try customers.find().all().filter(plain).map(\.id)
        #expect(!expected.isEmpty, sourceLocation: sourceLocation)
        #expect(try query.all().map(\.id) == expected, "\(query.filter)", sourceLocation: sourceLocation)
    }

    @Test("Members that throw for what they do not know do not matter: the answers are those of a plain filter")
    func particularMembers() throws {
        let (one, email) = (Self.customers[3], Email("2@example.org"))
        try expectSame({ $0.id == one.id }, { $0.id == one.id })
        try expectSame({ $0.displayName == "name 2" }, { $0.displayName == "name 2" })
        try expectSame({ $0.email == one.email }, { $0.email == one.email })
        try expectSame({ $0.email < Email("2") }, { $0.email < Email("2") })
        try expectSame({ $0.backup == nil }, { $0.backup == nil })
        try expectSame({ $0.backup == email }, { $0.backup == email })
        try expectSame({ $0.balance == Money(300, "EUR") }, { $0.balance == Money(300, "EUR") })
        try expectSame({ $0.priority == .high }, { $0.priority == .high })
        try expectSame({ $0.deletedAt == nil }, { $0.deletedAt == nil })
        try expectSame({ $0.home.city == "city 1" }, { $0.home?.city == "city 1" })
        try expectSame({ $0.home.email != nil }, { $0.home?.email != nil })
        try expectSame(
            { $0.address.id > 3 && $0.address.city == "town 0" }, { $0.address.id > 3 && $0.address.city == "town 0" })
        let customers = try collection(Self.customers)
        #expect(try customers.find { $0.displayName == "x" }.filter == ["display_name": "x"])
        #expect(try customers.find { $0.address.id == 1 }.filter == ["address.id": 1])
        let sorted = try customers.find().sorted(by: \.email, .descending).all().map(\.email)
        #expect(sorted == Self.customers.map(\.email).sorted(by: >))
        #expect(try customers.find().sorted(by: \.home?.city).hints["$orderby"] == ["home.town": 1])
        #expect(try customers.find().distinct(\.displayName).count == 5)
        for (_, number) in try customers.find().groups(by: \.priority, .count) { #expect(number == 8) }
    }

    @Test("The raw value of a property is stored in its place")
    func rawValues() throws {
        try expectSame({ $0.priority.rawValue >= 5 }, { $0.priority.rawValue >= 5 })
        try expectSame({ $0.priority.rawValue == 1 }, { $0.priority.rawValue == 1 })
        try expectSame({ $0.colors.rawValue == 2 }, { $0.colors?.rawValue == 2 })
        try expectSame({ $0.colors.rawValue == nil }, { $0.colors?.rawValue == nil })
        let customers = try collection(Self.customers)
        #expect(try customers.find().sorted(by: \.colors?.rawValue).hints["$orderby"] == ["colors": 1])
        let advice = message { _ = try customers.find().sorted(by: \.priority.rawValue) }
        #expect(advice.contains("use the property whose type is \"Priority\" itself"), "\(advice)")
        #expect(!advice.contains("StoredFieldNaming"))
    }

    @Test("Computed properties are errors with advice that holds")
    func computed() throws {
        let customers = try collection(Self.customers)
        #expect(message { _ = try customers.find { $0.isPrivate == true } }.contains("StoredFieldNaming"))
        let label = message { _ = try customers.find { $0.priority.label == "low" } }
        #expect(label.contains("stored as its raw value"))
        let text = message { _ = try customers.find { $0.email.text == "x" } }
        #expect(text.contains("\"Email\" is not stored in fields") && text.contains("itself"), "\(text)")
    }

    private func deleted<Element: Codable & SoftDeletable>(
        _ all: Database.Collection<Element>
    ) throws -> Database.Query<Element> {
        try all.find { $0.deletedAt != nil }
    }

    private func newest<Element: Codable & Versioned & Identifiable>(
        _ all: Database.Collection<Element>, not id: Int
    ) throws -> [Element] where Element.ID == Int {
        try all.find { $0.version > 1 && $0.id != id }.sorted(by: \.version, .descending).all()
    }

    @Test("Generic code reads properties of its constraint when that names them, and else is told how")
    func generic() throws {
        let advice = message { _ = try deleted(try collection(Self.customers)) }
        #expect(advice.contains("of the protocol that declares it"), "\(advice)")
        let drafts = try collection((1...4).map { Draft(id: $0, version: $0, text: "a") })
        #expect(try newest(drafts, not: 3).map(\.id) == [4, 2])
        #expect(try drafts.find { $0.version == 2 && $0.text == "a" && $0.id < 3 }.all().map(\.id) == [2])
    }

    @Test("Swapped keys are not confused, and keys with other names are not guessed")
    func renaming() throws {
        let all = try collection([Renaming]())
        #expect(try all.find { $0.first == 1 && $0.second == 2 }.filter == ["second": 1, "first": 2])
        #expect(message { _ = try all.find { $0.name == "a" } }.contains("no coding key"))
        #expect(message { _ = try all.find { $0.id == 0 } }.contains("no coding key"))
    }

    @Test("The keys of another type are not taken for a type's own")
    func flattened() throws {
        let all = try collection([Flattened]())
        #expect(message { _ = try all.find { $0.name == "b" } }.contains("of its own"))
        #expect(message { _ = try all.find { $0.extra == 2 } }.contains("of its own"))
    }

    @Test("Wrapped and observed properties: a sample names them, and else an error says so")
    func wrapped() throws {
        let wrapping = try collection([Wrapping(id: 1, title: " a ", count: 1)])
        #expect(try wrapping.find { $0.id == 1 }.count() == 1)
        #expect(message { _ = try wrapping.find { $0.title == "a" } }.contains("querySample"))
        #expect(message { _ = try wrapping.find { $0.count == 1 } }.contains("observers"))
        let sampled = try collection([
            Sampled(id: 1, title: " a ", count: 1, shifted: 1), Sampled(id: 2, title: "b", count: 1, shifted: 1),
        ])
        #expect(try sampled.find { $0.title == "a" }.all().map(\.id) == [1])
        #expect(try sampled.find { $0.count == 1 && $0.id == 2 }.filter == ["count": 1, "_id": 2])
        #expect(message { _ = try sampled.find { $0.shifted == 1 } }.contains("another value"))
        #expect(message { _ = try sampled.find { $0.upper == "A" } }.contains("computed"))
    }

    @Test("Properties of size 0 are not taken for each other")
    func empties() throws {
        let all = try collection([Empties(only: .one, number: 3, other: .one, text: "a")])
        #expect(try all.find { $0.number == 3 && $0.text == "a" }.filter == ["number": 3, "text": "a"])
        #expect(message { _ = try all.find { $0.other == .one } }.contains("several"))
    }

    @Test("A listed name that no field has is refused; what is not listed is found as for any type")
    func naming() throws {
        let all = try collection([Misnamed(id: 1, size: 2)])
        #expect(message { _ = try all.find { $0.id == 1 } }.contains("name it \"_id\" there"))
        #expect(try all.find { $0.size == 2 }.filter == ["size": 2])
    }

    @Test("Classes: final properties by their keys, others, inherited and computed ones never guessed")
    func classes() throws {
        let vehicles = try collection([Vehicle(name: "a", wheels: 4), Vehicle(name: "b", wheels: 2)])
        #expect(try vehicles.find { $0.wheels == 4 }.filter == ["wheels": 4])
        #expect(message { _ = try vehicles.find { $0.name == "a" } }.contains("not final"))
        #expect(message { _ = try vehicles.find { $0.title == "a" } }.contains("computed"))
        let trucks = try collection((1...3).map { Truck(name: "t\($0)", wheels: $0 + 3, load: $0 * 10) })
        #expect(try trucks.find { $0.load == 10 }.all().map(\.name) == ["t1"])
        #expect(message { _ = try trucks.find { $0.wheels == 4 } }.contains("of its own"))
        let bicycles = try collection([Bicycle(name: "a", wheels: 2)])
        #expect(try bicycles.find { $0.wheels == 2 }.filter == ["wheels": 2])
        #expect(message { _ = try bicycles.find { $0.bell == true } }.contains("StoredFieldNaming"))
    }

    @Test("A projection reads the keys of its type, and whole documents where these may not be all")
    func projections() throws {
        let all = try collection([Trapping(id: 1, q: 1, label: "x")])
        let fields = try all.find().projected(to: Trapping.self).hints["$fields"]?.documentValue
        #expect(fields?.equalsIgnoringKeyOrder(["_id": 1, "q": 1, "l": 1]) == true)
        #expect(try all.find().projected(to: Renaming.self).hints["$fields"] == nil)
        #expect(try all.find().projected(to: Wrapping.self).hints["$fields"] != nil)
        #expect(message { _ = try all.find().projected(to: Email.self) }.contains("fields(_:)"))
    }
}
