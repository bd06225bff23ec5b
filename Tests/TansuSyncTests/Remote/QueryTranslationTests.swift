#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Remote: queries as selectors")
struct QueryTranslationTests {
    /// How many random queries; `TANSU_ROUNDS` sets it.
    private static let rounds = ProcessInfo.processInfo.environment["TANSU_ROUNDS"].flatMap { Int($0) } ?? 1_500

    @Test("What a query matches is between the two selectors, with the types of this side and as CouchDB has them")
    func bounds() throws {
        let seed = SeededGenerator.seed()
        print("selectors: TANSU_SEED=\(seed)")
        var random = RandomQueries(seed: seed)
        var (tested, said, exact) = (0, 0, 0)
        for round in 0..<Self.rounds {
            let query = random.query()
            guard let matcher = try? EngineMatcher(query) else { continue }
            tested += 1
            var translation = QueryTranslation()
            let bounds = try translation.query(query)
            if case .all = bounds.upper, case .none = bounds.lower {
                #expect(translation.unsaid != nil, "TANSU_SEED=\(seed), round \(round): \(query)")
            } else if case .all = bounds.upper {
            } else {
                said += 1
            }
            let (upper, lower) = (try Self.selector(bounds.upper), try Self.selector(bounds.lower))
            var isExact = true
            for _ in 0..<12 {
                let document = BSONDocument(
                    joining: ["_id": .string("\(round % 10)")], random.document())
                let matches = try matcher.matches(document)
                // CouchDB has every other type as an object.
                let text = RemoteConnection.text(of: document)
                let other = try #require(BSONValue(wireJSON: text, documentDepth: 100).documentValue)
                for form in [document, other] {
                    let isInUpper = try upper?.matches(form) ?? false
                    let isInLower = try lower?.matches(form) ?? false
                    if matches != isInUpper || matches != isInLower { isExact = false }
                    guard (matches && !isInUpper) || (isInLower && !matches) else { continue }
                    Issue.record(
                        """
                        TANSU_SEED=\(seed), round \(round): \(query) \(matches ? "matches" : "does not match") \
                        \(document), but the \(matches ? "upper" : "lower") selector is \
                        \((matches ? bounds.upper : bounds.lower).document)
                        """)
                    return
                }
            }
            if isExact { exact += 1 }
        }
        print(
            "selectors: of \(tested) queries \(said) ask for less than everything, \(exact) for no more than matches"
        )
        #expect(said * 4 > tested * 3 && exact * 2 > tested)
    }

    @Test("Small queries, on small documents: all of them")
    func small() throws {
        let documents = Self.smallValues.map { value -> BSONDocument in ["_id": "1", "a": value] } + [["_id": "1"]]
        let forms = try documents.map { document in
            [
                document,
                try #require(
                    BSONValue(wireJSON: RemoteConnection.text(of: document), documentDepth: 100).documentValue),
            ]
        }
        var wrong: [String] = []
        var queries = 0
        for query in Self.smallQueries {
            guard let matcher = try? EngineMatcher(query) else { continue }
            queries += 1
            var translation = QueryTranslation()
            let bounds = try translation.query(query)
            let (upper, lower) = (try Self.selector(bounds.upper), try Self.selector(bounds.lower))
            for (document, forms) in zip(documents, forms) {
                let matches = try matcher.matches(document)
                for form in forms {
                    let isLost = try matches && !(upper?.matches(form) ?? false)
                    let isInvented = try !matches && (lower?.matches(form) ?? false)
                    if isLost { wrong.append("\(query) matches \(document), but not \(bounds.upper.document)") }
                    if isInvented {
                        wrong.append("\(query) does not match \(document), but \(bounds.lower.document)")
                    }
                }
            }
        }
        #expect(queries > 800)
        if !wrong.isEmpty { Issue.record("\(wrong.count): \(wrong.prefix(10).joined(separator: "\n"))") }
    }

    /// Values of few forms, down to two levels.
    private static let smallValues: [BSONValue] = {
        let scalars: [BSONValue] = [nil, 5, 7.5, "x", .objectID(smallID), .date(5_000)]
        let flat: [BSONValue] =
            [[], [:]]
            + scalars.flatMap { value -> [BSONValue] in [[value], [value, 5], ["e": value], ["0": value]] }
        return scalars + flat + flat.flatMap { value -> [BSONValue] in [[value], [value, 5], ["e": value]] }
    }()

    private static let smallID = ObjectID("507f1f77bcf86cd799439011") ?? ObjectID()

    /// Conditions on a path, on a path in the elements of an array, and their negations.
    private static var smallQueries: [BSONDocument] {
        let values: [BSONValue] = [
            5, nil, "x", ["x"], ["$ne": 5], ["$ne": nil], ["$gt": 5], ["$lte": 5], ["$lt": "y"], ["$exists": true],
            ["$exists": false], ["$type": "array"], ["$type": "object"], ["$type": "number"], ["$type": "string"],
            ["$type": "null"], ["$in": [5, "x"]], ["$nin": [5, nil]], ["$size": 1], ["$size": 0], ["$regex": "x"],
            ["$begin": "x"], ["$all": [5]], ["$gte": .date(1_000)], ["$eq": .objectID(smallID)],
            ["$gte": 5, "$lt": 9],
            ["$and": [["$gt": 4], ["$ne": 7.5]]], ["$nor": [["$gt": 5], nil]], ["$bt": [4, 6]], ["$mod": [5, 0]],
        ]
        let fields: [BSONDocument] = ["e", "0", "e.e", "0.e"].flatMap { path in
            values.map { value -> BSONDocument in [path: value] }
        }
        let operators = values.compactMap { value -> BSONDocument? in
            value.documentValue.flatMap { $0.keys.first?.first == "$" ? $0 : nil }
        }
        let elements =
            operators + fields + fields.map { inner -> BSONDocument in ["$nor": [.document(inner)]] } + [
                [:], ["$comment": "c"], ["$and": [[:], ["$ne": 5]]],
            ]
        let conditions =
            values
            + elements.flatMap { inner -> [BSONValue] in
                [["$elemMatch": .document(inner)], ["$allMatch": .document(inner)]]
            }
        return conditions.flatMap { condition -> [BSONDocument] in
            // What stands below $elemMatch is long enough without more paths.
            let isElement = condition.documentValue?.keys.first?.hasSuffix("Match") == true
            return (isElement ? ["a"] : ["a", "a.e", "a.0", "a.0.e", "a.e.0"]).flatMap { path -> [BSONDocument] in
                [[path: condition], ["$not": [path: condition]]]
            }
        }
    }

    private static func selector(_ selection: Selection) throws -> Mango.Selector? {
        if case .none = selection { return nil }
        return try Mango.Selector(selection.document)
    }
}
#endif
