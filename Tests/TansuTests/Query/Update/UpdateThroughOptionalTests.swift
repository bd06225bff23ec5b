import Foundation
import Tansu
import Testing

@Suite("Updates through optionals")
struct UpdateThroughOptionalTests {
    struct Person: Codable, Sendable, Identifiable, Equatable {
        struct Home: Codable, Sendable, Equatable {
            struct Door: Codable, Sendable, Equatable { var colour: String?; var number: Int }
            var city: String?
            var zip: String
            var visits = 0
            var tags: [String] = []
            var notes: [String]?
            var door: Door?
        }

        var id: Int
        var name = "a"
        var home: Home?
        var work: Home?
    }

    private let db: Database
    private let people: Database.Collection<Person>

    init() throws {
        db = try Database(.memory)
        people = try db.collection("people", of: Person.self)
        let (home, open) = (Person.Home(zip: "1"), Person.Home(zip: "2", door: .init(number: 3)))
        try people.save([
            Person(id: 1), Person(id: 2, home: home), Person(id: 3, work: home), Person(id: 4, home: open, work: open),
        ])
        // Nil may be null, too.
        try db.collection("people").update(["_id": 1], ["$set": ["home": nil]])
    }

    /// The same change of Swift values, for comparison.
    private func check(
        _ changes: (inout Database.Update<Person>) throws -> Void, _ change: (inout Person) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var expected = try people.find().sorted(by: "_id").all()
        let before = expected
        for index in expected.indices { change(&expected[index]) }
        let result = try people.update(where: { $0.id > 0 }, changes)
        #expect(try people.find().sorted(by: "_id").all() == expected, sourceLocation: sourceLocation)
        #expect(result.matched == before.count, sourceLocation: sourceLocation)
        #expect(result.modified == zip(before, expected).count { $0 != $1 }, sourceLocation: sourceLocation)
    }

    @Test("A change through a nil does nothing, as in Swift")
    func changes() throws {
        try check({ $0.set(\.home?.city, "Bonn") }, { $0.home?.city = "Bonn" })
        try check({ $0.set(\.home?.city, nil) }, { $0.home?.city = nil })
        try check({ $0.set(\.home?.zip, "9") }, { $0.home?.zip = "9" })
        try check({ $0.increment(\.home?.visits, by: 2) }, { $0.home?.visits += 2 })
        try check({ $0.raise(\.home?.visits, to: 9) }, { if $0.home != nil { $0.home?.visits = 9 } })
        try check({ $0.lower(\.home?.visits, to: 1) }, { if $0.home != nil { $0.home?.visits = 1 } })
        try check({ $0.append(\.home?.tags, "x", "y") }, { $0.home?.tags += ["x", "y"] })
        try check({ $0.append(\.home?.notes, "n") }, { if $0.home != nil { $0.home?.notes = ["n"] } })
        try check({ $0.insert(\.home?.tags, "z") }, { $0.home?.tags.append("z") })
        try check({ $0.remove(\.home?.tags, "x") }, { $0.home?.tags.removeAll { $0 == "x" } })
        try check({ $0.unset(\.home?.notes) }, { $0.home?.notes = nil })
        try check({ $0.set(\.home?.door?.colour, "red") }, { $0.home?.door?.colour = "red" })
        try check({ $0.set(\.home?.door?.number, 8) }, { $0.home?.door?.number = 8 })
    }

    @Test("Changes with and without optionals are one update")
    func together() throws {
        try check(
            {
                $0.set(\.name, "b")
                $0.set(\.home?.city, "Bonn")
                $0.increment(\.home?.visits)
                $0.set(\.work?.zip, "7")
                $0.set(\.work?.door?.colour, "blue")
            },
            {
                $0.name = "b"
                $0.home?.city = "Bonn"
                $0.home?.visits += 1
                $0.work?.zip = "7"
                $0.work?.door?.colour = "blue"
            })
        // What the update changes may be what it asks for.
        let result = try people.update(where: { $0.name == "b" }) {
            $0.set(\.name, "c")
            $0.set(\.home?.city, "Köln")
        }
        #expect(result.matched == 4 && result.modified == 4)
        #expect(try people.find { $0.home.city == "Köln" }.count() == 2)
    }

    @Test("The limit of a query counts all documents")
    func limits() async throws {
        let query = try people.find().sorted(by: \.id, .descending).limit(2)
        let result = try await people.update(query) { $0.set(\.home?.city, "Bonn") }
        #expect(result.matched == 2 && result.modified == 1)
        #expect(try await people.find { $0.home.city == "Bonn" }.all().map(\.id) == [4])
    }

    @Test("A property that is not optional is not unset, and too many optionals are an error")
    func refused() throws {
        for changes in [
            { $0.unset(\.home?.zip) }, { $0.set(\.home?.zip, nil) }, { $0.unset(\.home?.door?.number) },
        ] as [(inout Database.Update<Person>) -> Void] {
            let error = #expect(throws: TansuError.self) { try people.update(where: { $0.id == 2 }, changes) }
            #expect(error?.code == .invalidQuery)
            #expect(error?.message.contains("not optional") ?? false)
        }
        #expect(throws: TansuError.self) {
            try people.update(where: { $0.id == 2 }) {
                $0.set(\.home?.city, "a")
                $0.set(\.home?.city, "b")
            }
        }
        #expect(try people.find().all().count == 4)
    }

    @Test("An upsert inserts nothing below what is nil")
    func upserts() throws {
        let first = try people.upsert(where: { $0.id == 2 }) { $0.set(\.home?.city, "Bonn") }
        #expect(first.matched == 1 && first.upserted.isEmpty)
        let second = try people.upsert(where: { $0.id == 9 }) {
            $0.set(\.name, "new")
            $0.set(\.home?.city, "Bonn")
        }
        #expect(second.upserted == [9])
        #expect(try people.get(9) == Person(id: 9, name: "new"))
        let third = try people.upsert(where: { $0.id == 10 }, inserting: Person(id: 10)) { $0.set(\.home?.city, "x") }
        #expect(third.upserted == [10])
        #expect(
            try people.upsert(where: { $0.id == 3 }, inserting: Person(id: 3)) { $0.set(\.home?.city, "x") }.matched
                == 1)
        #expect(try people.get(3)?.home == nil)
    }
}
