import Foundation
import Tansu
import Testing

@Suite("Queries by key path on types with decoders of their own")
struct DecoderTests {
    /// It tries an older layout before its own.
    private struct Renamed: Codable, Sendable, Identifiable, Equatable {
        enum Old: String, CodingKey { case id, title }
        var id: Int
        var name: String

        init(id: Int, name: String) { (self.id, self.name) = (id, name) }

        init(from decoder: any Decoder) throws {
            if let old = try? decoder.container(keyedBy: Old.self),
                let title = try? old.decode(String.self, forKey: .title)
            {
                (id, name) = (try old.decode(Int.self, forKey: .id), title)
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            name = try container.decode(String.self, forKey: .name)
        }
    }

    @Test("So does one that tries an older single value or an array first")
    func olderValue() throws {
        struct Part: Codable, Sendable, Equatable {
            var x: Int
            var y: Int

            init(x: Int, y: Int) { (self.x, self.y) = (x, y) }

            init(from decoder: any Decoder) throws {
                if let x = try? decoder.singleValueContainer().decode(Int.self) {
                    (self.x, y) = (x, 0)
                } else if var list = try? decoder.unkeyedContainer() {
                    (x, y) = (try list.decode(Int.self), try list.decode(Int.self))
                } else {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    (x, y) = (try container.decode(Int.self, forKey: .x), try container.decode(Int.self, forKey: .y))
                }
            }
        }
        struct Whole: Codable, Sendable, Identifiable { var id: Int; var part: Part }
        let db = try Database(.memory)
        let all = try db.collection("all", of: Whole.self)
        try all.save([Whole(id: 1, part: Part(x: 1, y: 2)), Whole(id: 2, part: Part(x: 3, y: 2))])
        try db.collection("all").save([["_id": 3, "part": 5], ["_id": 4, "part": [1, 2]]])
        #expect(try all.find { $0.part.x == 1 && $0.part.y == 2 }.all().map(\.id) == [1])
        #expect(try all.find { $0.part.x > 0 }.sorted(by: \.part.x, .descending).first()?.id == 2)
        #expect(try all.find().all().map(\.part.x) == [1, 3, 5, 1])
    }

    @Test("A decoder that tries an older layout first stores under its own keys")
    func olderLayout() throws {
        let db = try Database(.memory)
        let all = try db.collection("all", of: Renamed.self)
        try all.save([Renamed(id: 1, name: "x"), Renamed(id: 2, name: "y")])
        try db.collection("all").save(["_id": 3, "title": "x"])
        #expect(try all.find { $0.name == "x" }.all().map(\.id) == [1])
        #expect(try all.find().sorted(by: \.name, .descending).all().map(\.id).prefix(2) == [2, 1])
        #expect(try all.get(3)?.name == "x")
        try all.update(where: { $0.name == "y" }) { $0.set(\.name, "z") }
        #expect(try all.get(2)?.name == "z")
    }

    @Test("Documents are values of dictionaries, whatever their _id is")
    func dictionaries() throws {
        let db = try Database(.memory)
        let counts = try db.collection("counts", of: [String: Int].self)
        try counts.save(["a": 1, "b": 2])
        try counts.save(["a": 5])
        #expect(try counts.find { $0["a"] > 1 }.all() == [["a": 5]])
        #expect(try counts.find().all().map { $0["a"] } == [1, 5])
        try counts.save(["_id": 7, "a": 9])
        #expect(try counts.get(7) == ["_id": 7, "a": 9])
        let texts = try db.collection("texts", of: [String: String].self)
        try texts.save(["_id": "x", "a": "b"])
        #expect(try texts.find().all() == [["_id": "x", "a": "b"]])
        let lists = try db.collection("lists", of: [String: [Int]?].self)
        try lists.save(["a": [1], "b": nil])
        #expect(try lists.find().first()?["a"] == [1])
        // What else does not fit is an error.
        try db.collection("counts").save(["_id": 8, "a": "text"])
        #expect(throws: DecodingError.self) { try counts.get(8) }
    }
}
