import Tansu
import Testing

@Suite("Updates of optional properties that are stored as null")
struct NullPropertyUpdateTests {
    private struct Item: Codable, Sendable, Identifiable, Equatable {
        struct Part: Codable, Sendable, Equatable { var marks: [Int]? }

        var id: Int
        var marks: [Int]?
        var names: Set<String>?
        var count: Int?
        var part: Part?

        init(id: Int, marks: [Int]? = nil, names: Set<String>? = nil, count: Int? = nil, part: Part? = nil) {
            (self.id, self.marks, self.names, self.count, self.part) = (id, marks, names, count, part)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(marks, forKey: .marks)
            try container.encode(names, forKey: .names)
            try container.encode(count, forKey: .count)
            try container.encode(part, forKey: .part)
        }
    }

    private let db: Database
    private let items: Database.Collection<Item>

    init() throws {
        db = try Database(.memory)
        items = try db.collection("items", of: Item.self)
        try items.save([
            Item(id: 1), Item(id: 2, marks: [1], names: ["a"], count: 1, part: .init(marks: [1])),
            Item(id: 3, part: .init()),
        ])
        try db.collection("items").update(["_id": 3], ["$set": ["part.marks": nil]])
        try db.collection("items").save(["_id": 4])
    }

    /// The same change of Swift values, for comparison.
    private func check(
        _ changes: (inout Database.Update<Item>) throws -> Void, _ change: (inout Item) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try items.find().sorted(by: \.id).all()
        var expected = before
        for index in expected.indices { change(&expected[index]) }
        let result = try items.update(where: { $0.id > 0 }, changes)
        #expect(try items.find().sorted(by: \.id).all() == expected, sourceLocation: sourceLocation)
        #expect(result.matched == before.count, sourceLocation: sourceLocation)
        #expect(result.modified == zip(before, expected).count { $0 != $1 }, sourceLocation: sourceLocation)
    }

    @Test("Null counts as nil: an empty array, or no number")
    func nulls() throws {
        #expect(try db.collection("items").get(1)?["marks"] == BSONValue.null)
        try check({ $0.remove(\.marks, 5) }, { $0.marks?.removeAll { $0 == 5 } })
        try check({ $0.append(\.marks, 5, 5) }, { $0.marks = ($0.marks ?? []) + [5, 5] })
        try check({ $0.remove(\.marks, 1) }, { $0.marks?.removeAll { $0 == 1 } })
        try check({ $0.insert(\.names, "a", "b", "b") }, { $0.names = ($0.names ?? []).union(["a", "b"]) })
        try check({ $0.increment(\.count, by: 3) }, { $0.count = ($0.count ?? 0) + 3 })
        try check(
            { $0.append(\.part?.marks, 6) },
            {
                let marks = $0.part?.marks ?? []
                $0.part?.marks = marks + [6]
            })
    }

    @Test("Several of them in one update")
    func several() throws {
        try check(
            {
                $0.append(\.marks, 2)
                $0.insert(\.names, "z")
                $0.increment(\.count)
                $0.append(\.part?.marks, 8)
            },
            {
                $0.marks = ($0.marks ?? []) + [2]
                $0.names = ($0.names ?? []).union(["z"])
                $0.count = ($0.count ?? 0) + 1
                let marks = $0.part?.marks ?? []
                $0.part?.marks = marks + [8]
            })
    }

    @Test("An upsert inserts them")
    func upserts() throws {
        try items.upsert(where: { $0.id == 9 && $0.marks == nil }) {
            $0.append(\.marks, 2)
            $0.insert(\.names, "z")
            $0.increment(\.count, by: 4)
        }
        #expect(try items.get(9) == Item(id: 9, marks: [2], names: ["z"], count: 4))
        try items.upsert(where: { $0.id == 1 }) { $0.append(\.marks, 7) }
        #expect(try items.get(1)?.marks == [7])
    }
}
