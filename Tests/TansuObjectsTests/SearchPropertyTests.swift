import Foundation
import TansuObjects
import TansuTestSupport
import Testing

/// Random searches over random documents, beside a plain evaluation in memory.
@Suite("Searches beside a plain evaluation")
struct SearchPropertyTests {
    @Test("Documents, order, keys, counts and aggregates are the same without and with indexes")
    func random() throws {
        let seed = SeededGenerator.seed()
        let rounds = ProcessInfo.processInfo.environment["TANSU_ROUNDS"].flatMap { Int($0) } ?? 10
        for round in 0..<rounds {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let db = try Database(.memory)
            var stored: [(name: String, documents: [BSONDocument])] = []
            for name in ["one", "two"] {
                let documents = (0..<Int.random(in: 0...40, using: &random)).map { Self.document($0, &random) }
                try db.collection(name).save(documents)
                stored.append((name, documents))
                switch (round + stored.count) % 4 {
                case 1: try db.collection(name).ensureWildcardIndex()
                case 2:
                    for path in ["a", "b", "l", "n.a"] { try db.collection(name).ensureIndex(on: [path: .ascending]) }
                case 3:
                    try db.collection(name).ensureIndex(on: ["a": .ascending], caseInsensitive: true)
                    try db.collection(name).ensureWildcardIndex()
                default: break
                }
            }
            for number in 0..<30 {
                try check(Self.search(&random), stored, in: db, "seed \(seed) round \(round) search \(number)")
            }
        }
    }

    private typealias Question = (search: Search, holds: (BSONDocument) -> Bool)

    private func check(
        _ question: Question, _ stored: [(name: String, documents: [BSONDocument])], in db: Database, _ comment: Comment
    ) throws {
        let search = question.search
        let names =
            search.collections.isEmpty
            ? stored.map(\.name).filter { name in
                stored.contains { $0.name == name && !$0.documents.isEmpty }
            } : search.collections
        let matching = names.flatMap { name in
            stored.first { $0.name == name }?.documents.filter(question.holds).map { (name, $0) } ?? []
        }
        let sorted = matching.enumerated().sorted { a, b in
            for key in search.order {
                let order = Plain.order(a.element.1[key.path], b.element.1[key.path])
                if order != 0 { return key.isDescending ? order > 0 : order < 0 }
            }
            return a.offset < b.offset
        }.map { ObjectKey(collection: $0.element.0, id: $0.element.1["_id"] ?? .null) }
        let range = sorted.dropFirst(search.offset)
        let expected = Array(search.limit > 0 ? range.prefix(search.limit) : range)
        let query = try search.query
        #expect(try search.keys(in: db) == expected, "\(comment) \(query)")
        #expect(try search.count(in: db) == expected.count, "\(comment) \(query)")
        let found = try search.results(in: db)
        #expect(found.map(\.key) == expected, "\(comment) \(query)")
        #expect(
            found.map(\.document)
                == expected.map { key in
                    let documents = stored.first { $0.name == key.collection }?.documents
                    let document = documents?.first { $0["_id"] == key.id } ?? [:]
                    let fields = search.returnedAttributes + ["_id"]
                    return search.returnedAttributes.isEmpty
                        ? document
                        : BSONDocument(document.filter { fields.contains($0.key) }.map { ($0.key, $0.value) })
                }, "\(comment) \(query)")

        let values = matching.flatMap { $0.1["l"]?.arrayValue.map(Array.init) ?? [$0.1["l"]].compactMap { $0 } }
        let numbers = values.compactMap(\.doubleValue)
        #expect(try search.aggregate(.sum("l"), in: db).doubleValue == numbers.reduce(0, +), "\(comment)")
        let average = try search.aggregate(.average("l"), in: db).doubleValue
        #expect(
            average.map { abs($0 * Double(numbers.count) - numbers.reduce(0, +)) < 1e-9 } ?? numbers.isEmpty,
            "\(comment)")
        let present = values.filter { !$0.isNull }.sorted { Plain.order($0, $1) < 0 }
        #expect(try Plain.order(search.aggregate(.min("l"), in: db), present.first) == 0, "\(comment)")
        #expect(try Plain.order(search.aggregate(.max("l"), in: db), present.last) == 0, "\(comment)")
    }

    // MARK: Random documents

    private static let words = [
        "a", "A", "ab", "Äb", "äB", "b.*", "José", "jose", "JOSE\u{301}", "Straße", "", "🙂e", "가",
    ]

    private static func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private static func scalar(_ random: inout SeededGenerator) -> BSONValue {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: BSONValue(Int.random(in: -2...4, using: &random))
        case 3: .int64(Int64.random(in: -2...4, using: &random))
        case 4: .double(Double(Int.random(in: -4...8, using: &random)) / 2)
        case 5...8: .string(pick(words, &random))
        case 9: .bool(Bool.random(using: &random))
        case 10: .date(Int64.random(in: 0...3, using: &random))
        default: .null
        }
    }

    private static func document(_ id: Int, _ random: inout SeededGenerator) -> BSONDocument {
        var document = fields(2, &random)
        document["_id"] = BSONValue(id)
        return BSONDocument([("_id", BSONValue(id))] + document.filter { $0.key != "_id" }.map { ($0.key, $0.value) })
    }

    private static func fields(_ depth: Int, _ random: inout SeededGenerator) -> BSONDocument {
        var document: BSONDocument = [:]
        for key in ["a", "b"] where Int.random(in: 0..<4, using: &random) > 0 { document[key] = scalar(&random) }
        if Int.random(in: 0..<3, using: &random) > 0 {
            document["l"] = BSONValue((0..<Int.random(in: 0...3, using: &random)).map { _ in scalar(&random) })
        }
        guard depth > 0, Bool.random(using: &random) else { return document }
        document["n"] =
            Bool.random(using: &random)
            ? .document(fields(depth - 1, &random))
            : BSONValue((0..<Int.random(in: 0...2, using: &random)).map { _ in .document(fields(depth - 1, &random)) })
        return document
    }

    // MARK: Random searches

    private static func search(_ random: inout SeededGenerator) -> Question {
        let expression = expression(3, &random)
        var search = Search(where: expression.0)
        search.collections = pick([["one"], ["two"], ["two", "one"], [], ["one", "none"]], &random)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            search.order.append(
                .init(
                    pick(["a", "b", "_id"], &random),
                    Bool.random(using: &random) ? .ascending : .descending))
        }
        if Bool.random(using: &random) { search.returnedAttributes = ["a", "n"] }
        if Bool.random(using: &random) { search.limit = Int.random(in: 0...20, using: &random) }
        if Bool.random(using: &random) { search.offset = Int.random(in: 0...10, using: &random) }
        return (search, expression.1)
    }

    private static func expression(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> (Search.Expression, (BSONDocument) -> Bool) {
        guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else { return comparison(&random) }
        let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in expression(depth - 1, &random) }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return (.all(of: parts.map(\.0)), { document in parts.allSatisfy { $0.1(document) } })
        case 2, 3: return (.any(of: parts.map(\.0)), { document in parts.contains { $0.1(document) } })
        default:
            let part = expression(depth - 1, &random)
            return (!part.0, { !part.1($0) })
        }
    }

    private static func comparison(_ random: inout SeededGenerator) -> (Search.Expression, (BSONDocument) -> Bool) {
        let ignoring = Search.Ignoring(rawValue: Int.random(in: 0...3, using: &random))
        let name = pick(["a", "b", "l", "n"], &random)
        let path = pick(["a", "b", "l", "n.a", "n.l", "n.n.b"], &random)
        let (attribute, values): (Search.Attribute, (BSONDocument) -> [BSONValue?]) =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (.any, { Plain.everything(.document($0)) })
            case 1, 2: (.named(name), { Plain.named(name, .document($0)) })
            default: (.path(path), { Plain.found(path.split(separator: ".").map(String.init)[...], .document($0)) })
            }
        let (value, other, text) = (scalar(&random), scalar(&random), pick(words, &random))
        func any(_ passes: @escaping (BSONValue?) -> Bool) -> (BSONDocument) -> Bool {
            { document in
                values(document).contains { value in
                    passes(value) || value?.arrayValue?.contains { passes($0) } ?? false
                }
            }
        }
        func with(
            _ match: Search.Match, _ ignoring: Search.Ignoring, _ passes: @escaping (BSONValue?) -> Bool
        ) -> (Search.Expression, (BSONDocument) -> Bool) {
            (.init(attribute, match, ignoring: ignoring), any(passes))
        }
        func equals(_ found: BSONValue?, _ value: BSONValue) -> Bool { Plain.equal(found, value, ignoring) }
        let isOrdered = !value.isNull && value.type == other.type
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: return with(.equal(value), ignoring) { equals($0, value) }
        case 2:
            let positive = any { equals($0, value) }
            return (.init(attribute, .notEqual(value), ignoring: ignoring), { !positive($0) })
        case 3:
            return with(.begins(text), ignoring) { Plain.text($0, text, ignoring) { $0.starts(with: $1) } }
        case 4:
            return with(.ends(text), ignoring) {
                Plain.text($0, text, ignoring) { $0.reversed().starts(with: $1.reversed()) }
            }
        case 5:
            return with(.contains(text), ignoring) {
                Plain.text($0, text, ignoring) { whole, part in
                    (0...whole.count).contains { whole.dropFirst($0).starts(with: part) }
                }
            }
        case 6 where isOrdered: return with(.greater(value), []) { Plain.compare($0, value).map { $0 > 0 } ?? false }
        case 7 where isOrdered:
            return with(.lessOrEqual(value), []) { Plain.compare($0, value).map { $0 <= 0 } ?? false }
        case 8 where isOrdered:
            let isReversed = Plain.order(value, other) > 0
            let (low, high) = isReversed ? (other, value) : (value, other)
            return with(.between(value, other), []) { found in
                (Plain.compare(found, low).map { $0 >= 0 } ?? false)
                    && (Plain.compare(found, high).map { $0 <= 0 } ?? false)
            }
        case 9:
            return with(.in([value, other]), ignoring) { equals($0, value) || equals($0, other) }
        case 10: return (.init(attribute, .notExists), { !values($0).contains { $0 != nil } })
        default: return (.init(attribute, .exists), { values($0).contains { $0 != nil } })
        }
    }
}

/// What attributes a document has, and how values compare, in plain words.
private enum Plain {
    /// The values at a path; `nil` for what is missing.
    static func found(_ keys: ArraySlice<String>, _ value: BSONValue) -> [BSONValue?] {
        guard let key = keys.first else { return [value] }
        guard case .document(let document) = value else { return [nil] }
        guard let next = document[key] else { return [nil] }
        if keys.count > 1, let array = next.arrayValue {
            return array.filter { $0.documentValue != nil }.flatMap { found(keys.dropFirst(), $0) }
        }
        return found(keys.dropFirst(), next)
    }

    static func named(_ name: String, _ value: BSONValue) -> [BSONValue?] {
        if let array = value.arrayValue { return array.flatMap { named(name, $0) } }
        return value.documentValue?.flatMap { ($0.key == name ? [$0.value] : []) + named(name, $0.value) } ?? []
    }

    static func everything(_ value: BSONValue) -> [BSONValue?] {
        if let array = value.arrayValue { return array.flatMap { [$0] + everything($0) } }
        return value.documentValue?.flatMap { [$0.value] + everything($0.value) } ?? []
    }

    static func equal(_ found: BSONValue?, _ value: BSONValue, _ ignoring: Search.Ignoring) -> Bool {
        if case .string(let text) = value { return self.text(found, text, ignoring) { $0.elementsEqual($1) } }
        if value.isNull { return found?.isNull ?? true }
        return compare(found, value) == 0
    }

    static func text(
        _ found: BSONValue?, _ text: String, _ ignoring: Search.Ignoring,
        _ passes: ([Unicode.Scalar], [Unicode.Scalar]) -> Bool
    ) -> Bool {
        guard case .string(let whole)? = found else { return false }
        return passes(folded(whole, ignoring), folded(text, ignoring))
    }

    private static func folded(_ text: String, _ ignoring: Search.Ignoring) -> [Unicode.Scalar] {
        var scalars = Array(text.unicodeScalars)
        if ignoring.contains(.accents) {
            scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars
                .filter { $0.properties.generalCategory != .nonspacingMark }
        }
        guard ignoring.contains(.case) else { return scalars }
        // Words here have no letter but "ß" whose case is more than one letter.
        return scalars.flatMap { scalar -> [Unicode.Scalar] in
            scalar == "ß" && !ignoring.contains(.accents)
                ? ["s", "s"] : Array(scalar.properties.lowercaseMapping.unicodeScalars)
        }
    }

    /// The order of two values of one kind; `nil` when they have different kinds.
    static func compare(_ a: BSONValue?, _ b: BSONValue) -> Int? {
        guard let a, kind(a) == kind(b) else { return nil }
        return order(a, b)
    }

    static func order(_ a: BSONValue?, _ b: BSONValue?) -> Int {
        let (a, b) = (a ?? .null, b ?? .null)
        if kind(a) != kind(b) { return kind(a) < kind(b) ? -1 : 1 }
        switch (a, b) {
        case (.string(let x), .string(let y)): return order(Array(x.utf8), Array(y.utf8))
        case (.bool(let x), .bool(let y)): return (x ? 1 : 0) - (y ? 1 : 0)
        case (.date(let x), .date(let y)): return x < y ? -1 : x > y ? 1 : 0
        default:
            let (x, y) = (a.doubleValue ?? 0, b.doubleValue ?? 0)
            return x < y ? -1 : x > y ? 1 : 0
        }
    }

    private static func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }

    private static func kind(_ value: BSONValue) -> Int {
        switch value {
        case .null: 0
        case .int32, .int64, .double: 1
        case .string: 2
        case .document: 3
        case .array: 4
        case .bool: 7
        case .date: 8
        default: 9
        }
    }
}
