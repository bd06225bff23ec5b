#if TansuSync
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// Indexes that serve conditions with `$in` and `$or`, for which CouchDB's planner has no ranges.
@Suite("Find: indexes serve $in and $or")
struct FindNarrowingTests {
    private static let count = 600

    /// Numbers `n` of 0 to 299, each twice, and texts `t` of 100 kinds.
    private func collection(_ indexes: [[String]]) throws -> ReplicatedCollection {
        let database = try Database(.memory)
        let numbers = try database.collection("numbers")
        try numbers.save(
            (0..<Self.count).map {
                ["_id": .string("d\($0)"), "n": .int32(Int32($0 % 300)), "t": .string("t\($0 % 100)")]
            })
        try numbers.save(["_id": "list", "n": [3, 1005], "t": ["t1", "x"]])
        try numbers.save(["_id": "none"])
        let collection = try ReplicatedCollection.open("numbers", in: database, create: true)
        let designs = indexes.map { fields in
            let name = fields.joined(separator: "-")
            let map: BSONDocument = ["fields": .document(BSONDocument(fields.map { ($0, "asc") }))]
            let view: BSONDocument = ["map": .document(map), "options": ["def": ["fields": []]]]
            return DocumentEdit(
                id: "_design/\(name)", fields: ["language": "query", "views": [name: .document(view)]])
        }
        for result in try collection.write({ try $0.save(designs) }) { _ = try result.get() }
        return collection
    }

    private func answer(_ collection: ReplicatedCollection, _ body: BSONDocument) throws -> Mango.Answer {
        let found: Mango.Answer = try collection.find(try Mango.Query(body))
        let (documents, indexes) = try collection.read { store in
            (try store.documents().map { try store.wholeDocument($0.get()) }, try store.findIndexes())
        }
        let expected = try Mango.Query(body).answer(documents.compactMap { $0 }, indexes: indexes)
        #expect(found.documents == expected.documents, "\(body)")
        #expect(found.bookmark == expected.bookmark, "\(body)")
        return found
    }

    @Test("$in reads the entries of its values, and the arrays, in either direction")
    func values() throws {
        let collection = try collection([["n"]])
        for direction in ["asc", "desc"] {
            let body: BSONDocument = [
                "selector": ["n": ["$in": [3, 200, 3, 201, "text", 5000]]], "sort": [["n": .string(direction)]],
            ]
            let found = try answer(collection, body)
            #expect(found.documents.count == 7 && found.keysExamined == 7 && found.warning == nil)
            var pages: [BSONDocument] = []
            var page = body
            page["limit"] = 2
            while true {
                let part = try answer(collection, page)
                if part.documents.isEmpty { break }
                pages += part.documents
                page["bookmark"] = .string(part.bookmark)
            }
            #expect(pages == found.documents)
        }
    }

    @Test("$or over one field reads a range for each alternative")
    func ranges() throws {
        let collection = try collection([["n"]])
        for (alternatives, examined) in [
            // 297 to 299 and the list, which is above all numbers.
            ([["n": 5], ["n": ["$gt": 297]]], 9),
            ([["n": ["$gt": 10, "$lt": 20]], ["n": ["$gte": 15, "$lte": 25]]], 32),
            ([["n": 5], ["n": 6, "t": ["$ne": "t6"]], ["n": nil]], 4),
        ] as [([BSONDocument], Int)] {
            let body: BSONDocument = [
                "selector": ["$or": .array(BSONArray(alternatives.map { .document($0) }))], "limit": 100,
            ]
            let found = try answer(collection, body)
            #expect(found.keysExamined == examined && found.isNarrowed, "\(body): \(found.keysExamined)")
        }
    }

    @Test("$or over several fields reads an index for each, in the order of the ids")
    func alternatives() throws {
        let collection = try collection([["n"], ["t"]])
        for (selector, examined) in [
            (["$or": [["n": 5], ["t": "t7"]]], 8),
            (["$or": [["n": 7], ["t": "t7"]]], 6),
            (["$or": [["n": 5], ["$and": [["t": "t6"], ["_id": ["$ne": "d6"]]]]]], 8),
            (
                [
                    "$and": [
                        ["$or": [["n": 5], ["t": "t7"]]], ["$or": [["n": 107], ["t": ["$in": ["t5", "t7"]]]]],
                    ]
                ], 8
            ),
        ] as [(BSONDocument, Int)] {
            let found = try answer(collection, ["selector": .document(selector)])
            #expect(found.keysExamined == examined && found.isNarrowed, "\(selector): \(found.keysExamined)")
            #expect(found.warning == nil, "\(selector)")
            let last = try answer(
                collection,
                ["selector": .document(selector), "limit": 3, "skip": 1, "bookmark": .string(found.bookmark)])
            #expect(last.documents.isEmpty)
        }
        // Without a bound in one alternative, or for most of the documents, all of them are read in their order.
        for selector in [
            ["$or": [["n": 5], ["x": 1]]], ["$or": [["n": ["$lt": 270]], ["t": "t1"]]],
            ["$or": [["n": 5], ["t": ["$ne": "t5"]]]],
        ] as [BSONDocument] {
            #expect(try !answer(collection, ["selector": .document(selector)]).isNarrowed, "\(selector)")
        }
    }

    @Test("An index that may lack documents of an alternative is not read")
    func missingColumns() throws {
        let collection = try collection([["n"], ["t", "n"]])
        let lacking: BSONDocument = ["selector": ["$or": [["n": 5], ["t": "t7"], ["x": 1, "n": 8]]]]
        #expect(try !answer(collection, lacking).isNarrowed)
        let complete: BSONDocument = [
            "selector": ["$or": [["x": 1, "n": 8], ["t": "t7", "n": ["$exists": true]]]]
        ]
        #expect(try answer(collection, complete).documents.count == 6)
    }

    @Test("Changes are followed; update: false does without indexes that lack some")
    func following() throws {
        let collection = try collection([["n"], ["t"]])
        let body: BSONDocument = ["selector": ["$or": [["n": 5], ["t": "six"]]]]
        #expect(try answer(collection, body).documents.count == 2)
        let numbers = try collection.database.collection("numbers")
        try numbers.save([["_id": "d5", "n": 7], ["_id": "new", "t": "six"]])
        try numbers.remove(id: "d6")
        var old = body
        old["update"] = false
        #expect(try !answer(collection, old).isNarrowed)
        let found = try answer(collection, body)
        #expect(found.documents.compactMap { $0["_id"]?.stringValue } == ["d305", "new"])
        #expect(found.isNarrowed && found.keysExamined == 2)
        #expect(try answer(collection, old).isNarrowed)
    }

    @Test("What a selector matches is in the bounds of each of its fields")
    func boundsHaveAllMatches() throws {
        let seed = SeededGenerator.seed()
        var selectors = RandomSelectors(random: SeededGenerator(seed: seed))
        let documents = selectors.documents(60)
        var checked = 0
        for _ in 0..<800 {
            let selector = selectors.selector()
            guard let parsed = try? Mango.Query(["selector": .document(selector)]).selector else { continue }
            for field in ["a", "b", "c", "a.b"] {
                guard let bounds = try FindBounds(of: field, in: parsed.condition) else { continue }
                for document in documents {
                    guard try parsed.matches(document),
                        case .value(let value) = try Mango.FieldPath(field).found(in: .document(document))
                    else { continue }
                    let key = try FindKey(columns: [value], id: "id").text
                    let isInside = bounds.ranges.contains { range in
                        range.low.map { !key.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
                            && range.high.map { key.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
                    }
                    #expect(isInside, "seed \(seed): \(selector) \(document)")
                    checked += 1
                }
            }
        }
        #expect(checked > 50, "seed \(seed)")
    }
}
#endif
