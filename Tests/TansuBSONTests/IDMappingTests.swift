import Testing

@testable import TansuBSON

struct IDMappingTests {
    struct Person: Codable, Equatable { var id: Int; var friend: Friend }
    struct Friend: Codable, Equatable { var id: Int }

    @Test func idIsStoredAsUnderscoreIDAtTheTopOnly() throws {
        let person = Person(id: 1, friend: Friend(id: 2))
        let document = try BSONEncoder().encode(person)
        #expect(document == ["_id": 1, "friend": ["id": 2]])
        #expect(try BSONDecoder().decode(Person.self, from: document) == person)
    }

    @Test func idIsReadFromUnderscoreIDAtEveryLevel() throws {
        struct Order: Codable, Equatable { var id: Int; var customer: Person?; var lines: [[String: Friend]] }
        let joined: BSONDocument = [
            "_id": 1, "customer": ["name": "x", "_id": 2, "friend": ["id": 3]],
            "lines": [["a": ["_id": 4, "id": "of another tool"]], ["b": ["id": 5]]],
        ]
        let order = try BSONDecoder().decode(Order.self, from: joined)
        #expect(order.customer == Person(id: 2, friend: Friend(id: 3)))
        #expect(order.lines == [["a": Friend(id: 4)], ["b": Friend(id: 5)]])
        struct Own: Codable, Equatable { var _id: Int; var id: Int }
        #expect(
            try BSONDecoder().decode([String: Own].self, from: ["x": ["_id": 1, "id": 2]])["x"] == Own(_id: 1, id: 2))
        #expect(try BSONDecoder().decode([String: [String: Int]].self, from: ["x": ["_id": 1]]) == ["x": ["_id": 1]])
    }

    @Test func theMappingCanBeTurnedOff() throws {
        var encoder = BSONEncoder()
        encoder.idMapping = .none
        var decoder = BSONDecoder()
        decoder.idMapping = .none
        let person = Person(id: 1, friend: Friend(id: 2))
        #expect(try encoder.encode(person) == ["id": 1, "friend": ["id": 2]])
        #expect(try decoder.decode(Person.self, from: ["id": 1, "friend": ["id": 2]]) == person)
        #expect(throws: DecodingError.self) { try decoder.decode(Person.self, from: ["_id": 1, "friend": ["id": 2]]) }
    }

    @Test func typesWithAKeyOfTheirOwnAreLeftAlone() throws {
        struct Both: Codable, Equatable { var _id: Int; var id: String }
        let both = Both(_id: 1, id: "x")
        #expect(try BSONEncoder().encode(both) == ["_id": 1, "id": "x"])
        #expect(try BSONDecoder().decode(Both.self, from: ["_id": 1, "id": "x"]) == both)
        struct Renamed: Codable, Equatable {
            var key: Int
            enum CodingKeys: String, CodingKey { case key = "_id" }
        }
        #expect(try BSONEncoder().encode(Renamed(key: 3)) == ["_id": 3])
    }

    @Test func dictionariesAreLeftAlone() throws {
        #expect(try BSONEncoder().encode(["id": 1, "_id": 2]).equalsIgnoringKeyOrder(["id": 1, "_id": 2]))
        #expect(try BSONDecoder().decode([String: Int].self, from: ["_id": 1, "x": 2]) == ["_id": 1, "x": 2])
    }

    @Test func allKeysKnowTheMapping() throws {
        struct Keys: Decodable {
            enum CodingKeys: String, CodingKey { case id, name }
            var keys: [String]
            init(from decoder: any Decoder) throws {
                keys = try decoder.container(keyedBy: CodingKeys.self).allKeys.map(\.stringValue)
            }
        }
        #expect(try BSONDecoder().decode(Keys.self, from: ["_id": 1, "name": 2, "x": 3]).keys == ["id", "name"])
    }
}
