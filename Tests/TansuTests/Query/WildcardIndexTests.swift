import Tansu
import Testing

/// Wildcard indexes serve conditions on any path, and are described and declared as other indexes.
@Suite("Wildcard indexes")
struct WildcardIndexTests {
    struct Person: Codable, Sendable, Equatable {
        var _id: Int
        var name: String
        var address: [String: String]
    }

    private static func filled() throws -> (Database, Database.Collection<Person>) {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        for id in 0..<200 {
            try people.save(
                Person(_id: id, name: "name \(id)", address: ["city": id == 7 ? "Barcelona" : "city \(id)"]))
        }
        return (db, people)
    }

    @Test("Conditions on any path are served")
    func anyPathIsServed() throws {
        let (db, people) = try Self.filled()
        defer { try? db.close() }
        try people.ensureWildcardIndex("all")
        let documents = try db.collection("people")
        for query: BSONDocument in [
            ["address.city": "Barcelona"], ["**": "Barcelona"], ["**": ["$begin": "Bar"]], ["name": "name 7"],
        ] {
            #expect(try documents.find(query).count() == 1)
            #expect(try documents.find(query).explain().plan.accesses.map(\.index) == ["all"], "\(query)")
        }
    }

    @Test("Scopes are described, and created again from the description")
    func scopesAreDescribed() async throws {
        let (db, people) = try Self.filled()
        try await people.ensureWildcardIndex("part", below: "address", only: ["address.city"], except: ["address.zip"])
        let info = try #require(try await people.indexes().first)
        #expect(info.keys == [Database.IndexKey("address.**")])
        #expect(info.only == ["address.city"] && info.except == ["address.zip"])
        // The same again, from its description, is no error.
        try people.ensureIndex(like: info)
        #expect(try await people.indexes().count == 1)
        try await db.close()
    }

    @Test("Declared ones are created with the collection")
    func declaredOnesAreCreatedWithTheCollection() throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self, indexes: [.wildcard(except: ["name"])])
        try people.save(Person(_id: 1, name: "Ada", address: ["city": "Paris"]))
        #expect(try people.indexes().map(\.name) == ["**_1"])
        #expect(try people.indexes().first?.entries == 1)
        try db.close()
    }

    @Test("What they do not have is rejected")
    func whatTheyDoNotHaveIsRejected() throws {
        let (db, people) = try Self.filled()
        defer { try? db.close() }
        #expect { try people.ensureIndex(on: ["**": .ascending], unique: true) } throws: {
            ($0 as? TansuError)?.code == .invalidIndex
        }
        #expect { try people.ensureIndex(on: ["**": .ascending, "name": .ascending]) } throws: {
            ($0 as? TansuError)?.code == .invalidIndex
        }
    }
}
