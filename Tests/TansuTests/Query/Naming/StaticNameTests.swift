import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("A query by key path means the same whatever is stored, and is made without a call of the engine")
struct StaticNameTests {
    /// Makes a query on an empty collection and on one with documents.
    ///
    /// - Returns: Its filter and order, which are the same.
    private func made<Element: Codable & Sendable>(
        _ elements: [Element], _ query: (Database.Collection<Element>) throws -> Database.Query<Element>
    ) throws -> BSONDocument {
        let metrics = CountingMetrics()
        let db = try Database(.memory, options: .init(metrics: metrics))
        let (empty, full) = (
            try db.collection("empty", of: Element.self), try db.collection("full", of: Element.self)
        )
        for element in elements { try full.save(element) }
        let calls = {
            ["find", "get", "count", "distinct", "aggregate"].map { metrics.count("tansu.call.duration \($0)") }
        }
        let before = calls()
        let queries = [try query(empty), try query(full), try query(full)]
        #expect(calls() == before)
        let first: BSONDocument = ["filter": .document(queries[0].filter), "hints": .document(queries[0].hints)]
        for query in queries {
            #expect(["filter": .document(query.filter), "hints": .document(query.hints)] as BSONDocument == first)
        }
        return queries[0].filter
    }

    /// The message of the error that a query has on an empty collection and on one with documents.
    private func refusal<Element: Codable & Sendable>(
        _ elements: [Element], _ query: (Database.Collection<Element>) throws -> Database.Query<Element>
    ) -> String {
        let messages = [[], elements].map { elements in
            let error = #expect(throws: TansuError.self) { _ = try made(elements, query) }
            #expect(error?.code == .invalidQuery)
            return error?.message ?? ""
        }
        #expect(messages[0] == messages[1])
        return messages[1]
    }

    enum Kind: String, Codable, Sendable { case cat, dog }
    struct Tag: RawRepresentable, Codable, Hashable, Sendable, QueryValue { var rawValue: String }
    struct Pet: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey { case species = "s", name }
        var species: Kind
        var name: String?
    }
    struct Person: Codable, Sendable, Identifiable {
        enum CodingKeys: String, CodingKey { case id, name = "full_name", age, pet, pets, marks, tags, best }
        var id: Tag
        var name: String
        var age: Int?
        var pet = Pet(species: .cat)
        var pets: [Pet] = []
        var marks: [String: Int] = [:]
        var tags: Set<String> = []
        var best: Pet?
    }

    private static let people = (1...12).map {
        Person(
            id: Tag(rawValue: "\($0)"), name: "a", age: $0, pets: [Pet(species: .dog)], marks: ["maths": $0],
            tags: ["x"],
            best: Pet(species: .dog, name: "rex"))
    }

    @Test("Structs: renamed, nested and optional properties, enums, arrays, sets, dictionaries and typed ids")
    func structs() throws {
        #expect(try made(Self.people) { try $0.find { $0.age > 10 } } == ["age": ["$gt": 10]])
        #expect(try made(Self.people) { try $0.find { $0.name == "a" } } == ["full_name": "a"])
        #expect(try made(Self.people) { try $0.find { $0.id == Tag(rawValue: "1") } } == ["_id": "1"])
        #expect(try made(Self.people) { try $0.find { $0.pet.species == .cat } } == ["pet.s": "cat"])
        #expect(try made(Self.people) { try $0.find { $0.best.name == "rex" } } == ["best.name": "rex"])
        #expect(try made(Self.people) { try $0.find { $0.pet.species.rawValue == "cat" } } == ["pet.s": "cat"])
        #expect(try made(Self.people) { try $0.find { $0.marks["maths"] == 3 } } == ["marks.maths": 3])
        #expect(try made(Self.people) { try $0.find { $0.tags.contains("x") } }.keys == ["tags"])
        #expect(try made(Self.people) { try $0.find { $0.pets.contains { $0.species == .dog } } }.keys == ["pets"])
        #expect(try made(Self.people) { try $0.find(#Predicate { $0.name == "a" }) } == ["full_name": "a"])
        #expect(try made(Self.people) { try $0.find().sorted(by: \.best?.name).and { $0.age < 3 } }.keys == ["age"])
    }

    struct Pair<First: Codable & Sendable, Second: Codable & Sendable>: Codable, Sendable {
        var first: First
        var second: Second
    }

    @Test("Generic types")
    func generics() throws {
        let pairs = [Pair(first: 1, second: Pair(first: "a", second: Kind.cat))]
        #expect(try made(pairs) { try $0.find { $0.second.first == "a" } } == ["second.first": "a"])
        #expect(try made(pairs) { try $0.find { $0.second.second == .cat } } == ["second.second": "cat"])
    }

    @Test("Decoders and encoders of their own, also those that store another form under the key of the property")
    func handWritten() throws {
        let trapping = [Trapping(id: 1, q: 1, label: "x"), Trapping(id: 2, q: 2, label: "y")]
        #expect(try made(trapping) { try $0.find { $0.label == "x" } } == ["l": "x"])
        #expect(try made([Shifted(number: 5)]) { try $0.find { $0.number == 5 } } == ["number": 5])
    }

    final class Boat: Codable, Sendable {
        let name: String
        init(name: String) { self.name = name }
    }

    @Test("Final classes, and final properties of others")
    func classes() throws {
        #expect(try made([Boat(name: "a")]) { try $0.find { $0.name == "a" } } == ["name": "a"])
        #expect(try made([Vehicle(name: "a", wheels: 4)]) { try $0.find { $0.wheels == 4 } } == ["wheels": 4])
    }

    @Test("What else a collection makes with key paths makes no call either")
    func others() throws {
        let metrics = CountingMetrics()
        let people = try Database(.memory, options: .init(metrics: metrics)).collection("people", of: Person.self)
        try people.save(Self.people)
        try people.update(where: { $0.name == "a" }) { $0.increment(\.age) }
        #expect(try people.find().distinct(\.name) == ["a"])
        #expect(try people.find().distinct(\.pets.species) == [.dog])
        _ = try people.find().aggregate(.max(\.age))
        #expect(metrics.count("tansu.call.duration find") == 0)
        #expect(metrics.count("tansu.call.duration update") == 1)
        #expect(metrics.count("tansu.call.duration distinct") == 2)
    }

    private static func lines(_ type: String, _ names: String) -> String {
        """
        extension \(type): StoredFieldNaming {
            static var storedFieldNames: [PartialKeyPath<\(type)>: String] { [\(names)] }
        }
        """
    }

    @Test("Names that cannot be known are errors with the conformance to add, whatever is stored")
    func unknown() throws {
        let wrapped = (1...3).map { Wrapping(id: $0, title: "\($0)", count: $0 * 2) }
        #expect(
            refusal(wrapped) { try $0.find { $0.title == "2" } }
                .hasSuffix(Self.lines("Wrapping", #"\.title: "title""#)))
        #expect(
            refusal(wrapped) { try $0.find { $0.count == 4 } }
                .hasSuffix(Self.lines("Wrapping", #"\.id: "_id", \.title: "title", \.count: "count""#)))
        let renaming = [Renaming(name: "a", first: 1, second: 2), Renaming(name: "b", first: 1, second: 3)]
        #expect(
            refusal(renaming) { try $0.find { $0.name == "a" } }.hasSuffix(Self.lines("Renaming", #"\.name: "n""#)))
        let trucks = (1...3).map { Truck(name: "t\($0)", wheels: $0 + 3, load: $0) }
        #expect(
            refusal(trucks) { try $0.find { $0.wheels == 4 } }.hasSuffix(Self.lines("Truck", #"\.wheels: "wheels""#)))
        let vehicles = (1...3).map { Vehicle(name: "\($0)", wheels: 4) }
        let advice = refusal(vehicles) { try $0.find { $0.name == "1" } }
        #expect(advice.contains("declare it or its class final"))
        #expect(advice.hasSuffix(Self.lines("Vehicle", #"\.name: "n""#)))
        let flattened = (1...3).map { Flattened(base: .init(name: "a\($0)"), name: "b\($0)", extra: $0) }
        #expect(refusal(flattened) { try $0.find { $0.name == "b2" } }.contains(#"[\.name: "#))
    }

    @Test("The conformance of the error is all that is missing")
    func added() throws {
        let all = [Observed(id: 1, title: " a ", count: 2), Observed(id: 2, title: "b", count: 2)]
        #expect(try made(all) { try $0.find { $0.count == 2 && $0.title == "a" } } == ["count": 2, "title": "a"])
        #expect(try made(all) { try $0.find { $0.id == 1 } } == ["_id": 1])
    }
}

private struct Observed: Codable, Sendable {
    var id: Int
    @Trimmed var title: String
    var count: Int { didSet { count = max(count, 0) } }
}

extension Observed: StoredFieldNaming {
    static var storedFieldNames: [PartialKeyPath<Observed>: String] {
        [\.id: "_id", \.title: "title", \.count: "count"]
    }
}
