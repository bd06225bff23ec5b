import Tansu
import Testing

@Suite("Ids that are stored by a superclass or a flattened part")
struct FlattenedIDTests {
    private class Animal: Codable, @unchecked Sendable, Identifiable {
        let id: Int
        init(id: Int) { self.id = id }
    }

    private final class Dog: Animal, @unchecked Sendable {
        enum CodingKeys: String, CodingKey { case breed }
        let breed: String

        init(id: Int, breed: String) {
            self.breed = breed
            super.init(id: id)
        }

        required init(from decoder: any Decoder) throws {
            breed = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .breed)
            try super.init(from: decoder)
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(breed, forKey: .breed)
            try super.encode(to: encoder)
        }
    }

    private struct Base: Codable, Sendable { var id: Int }
    private struct Key: Codable, Sendable {
        enum CodingKeys: String, CodingKey { case text = "_id" }
        var text: String
    }

    private struct Flat: Codable, Sendable, Identifiable {
        enum CodingKeys: CodingKey { case value }
        var base: Base
        var value: Int
        var id: Int { base.id }

        init(id: Int) { (base, value) = (Base(id: id), 1) }

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value)
            base = try Base(from: decoder)
        }

        func encode(to encoder: any Encoder) throws {
            try base.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(value, forKey: .value)
        }
    }

    private struct Keyed: Codable, Sendable, Identifiable {
        enum Fields: CodingKey { case value }
        var key: Key
        var value: Int
        var id: String { key.text }

        init(id: String) { (key, value) = (Key(text: id), 1) }

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: Fields.self).decode(Int.self, forKey: .value)
            key = try Key(from: decoder)
        }

        func encode(to encoder: any Encoder) throws {
            try key.encode(to: encoder)
            var container = encoder.container(keyedBy: Fields.self)
            try container.encode(value, forKey: .value)
        }
    }

    private struct TwoKinds: Codable, Sendable, Identifiable {
        enum Fields: CodingKey { case value }
        enum IDs: String, CodingKey { case name = "_id" }
        var name: String
        var value: Int
        var id: String { name }

        init(id: String) { (name, value) = (id, 1) }

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: Fields.self).decode(Int.self, forKey: .value)
            name = try decoder.container(keyedBy: IDs.self).decode(String.self, forKey: .name)
        }

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: Fields.self)
            try fields.encode(value, forKey: .value)
            var ids = encoder.container(keyedBy: IDs.self)
            try ids.encode(name, forKey: .name)
        }
    }

    private let db: Database

    init() throws { db = try Database(.memory) }

    @Test("Documents are found, changed and removed by them")
    func found() throws {
        let dogs = try db.collection("dogs", of: Dog.self)
        try dogs.save(Dog(id: 1, breed: "x"))
        #expect(try dogs.get(1)?.breed == "x" && dogs.remove(id: 1))
        let flat = try db.collection("flat", of: Flat.self)
        try flat.save(Flat(id: 1))
        try flat.update(id: 1) { $0.value = 2 }
        #expect(try flat.get(ids: [1]).map(\.value) == [2] && flat.remove(id: 1))
        let keyed = try db.collection("keyed", of: Keyed.self)
        try keyed.save(Keyed(id: "k"))
        #expect(try keyed.get("k")?.value == 1 && keyed.remove(id: "k"))
        let kinds = try db.collection("kinds", of: TwoKinds.self)
        try kinds.save(TwoKinds(id: "k"))
        #expect(try kinds.get("k")?.value == 1 && kinds.remove(id: "k"))
    }

    private struct Unkeyed: Codable, Sendable, Identifiable {
        enum CodingKeys: CodingKey { case text }
        var id = 1
        var text = ""
    }

    private struct Volume: Codable, Sendable, Identifiable {
        var number: Int
        var pages: String
        var id: Int { number }
    }

    private struct Pair: Codable, Sendable, Identifiable {
        var first: Int
        var second: Int
        var id: Int { first * 1000 + second }
    }

    private func message(_ body: () throws -> Void) -> String {
        let error = #expect(throws: TansuError.self) { try body() }
        #expect(error?.code == .invalidID)
        return error?.message ?? ""
    }

    @Test("An id that is not stored is still an error, which names the property that it is computed of")
    func notStored() throws {
        let unkeyed = try db.collection("unkeyed", of: Unkeyed.self)
        #expect(message { _ = try unkeyed.get(1) }.contains("is not stored"))
        let volumes = try db.collection("volumes", of: Volume.self)
        #expect(message { _ = try volumes.get(1) }.contains("case number = \"_id\""))
        let pairs = try db.collection("pairs", of: Pair.self)
        #expect(!message { _ = try pairs.get(1) }.contains("as in case"))
    }

    private struct Player: Codable, Sendable, Identifiable { var id: Int? }

    @Test("To look for nil is an error that does not speak of an ObjectId")
    func nilID() throws {
        let players = try db.collection("players", of: Player.self)
        try players.save(Player(id: 1))
        for text in [message { _ = try players.get(nil) }, message { try players.remove(id: nil) }] {
            #expect(text.contains("nil") && !text.contains("ObjectId"))
        }
    }
}
