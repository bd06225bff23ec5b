package import Tansu

/// Random documents of few names and values, and queries that find some of them.
package struct RandomQueries {
    private var random: SeededGenerator

    package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(random.next() % UInt64(list.count))] }
    private mutating func chance(_ one: Int) -> Bool { random.next() % UInt64(one) == 0 }

    private static let keys = ["a", "b", "c", "0", "é", "d.e", "x\\y"]
    private static let texts = [
        "", "a", "A", "b", "ab", "a\u{0}b", "a\u{200B}b", "é", "e\u{301}", "ß", "日本", "\u{FFFF}", "😀", "a b", "a,b",
        "10", "2",
        "^a", "a.b", "x\ny", "2024-05-01", "a long text that has more than the bytes that a range looks at",
        "a long text that has more bytes", "\u{7F}", "aa", "ba",
    ]
    private static let scalars: [BSONValue] = [
        .null, true, false, 0, 1, 2, 5, -1, 1.0, 1.5, 2.0, -7.9, 7, .int64(1 << 60), .int64(5), .double(.nan),
        .double(.infinity), .double(-.infinity), .date(0), .date(1_000), .date(1_500), .date(1_714_564_800_000),
        .date(-1),
        .date(1_714_564_800_250),
    ]
    private static let otherScalars: [BSONValue] = [
        .objectID(ObjectID("507f1f77bcf86cd799439011") ?? ObjectID()),
        .objectID(ObjectID("507f1f77bcf86cd799439012") ?? ObjectID()),
        .decimal128(Decimal128("1.5") ?? Decimal128(0)), .decimal128(Decimal128("5") ?? Decimal128(0)),
        .binary(BSONBinary([1, 2])), .binary(BSONBinary([3])), .regularExpression(BSONRegularExpression("^a")),
    ]

    package mutating func scalar() -> BSONValue {
        switch random.next() % 10 {
        case 0...4: .string(pick(Self.texts))
        case 5...8: pick(Self.scalars)
        default: pick(Self.otherScalars)
        }
    }

    package mutating func value(_ depth: Int) -> BSONValue {
        switch random.next() % (depth > 0 ? 9 : 5) {
        case 0...4: return scalar()
        case 5, 6:
            return .array(BSONArray((0..<random.next() % 4).map { _ in value(depth - 1) }))
        default: return .document(fields(depth - 1))
        }
    }

    private mutating func fields(_ depth: Int) -> BSONDocument {
        var document: BSONDocument = [:]
        for key in Self.keys where chance(3) || (key == "a" && chance(2)) { document[key] = value(depth) }
        return document
    }

    /// A document without an `_id`.
    package mutating func document() -> BSONDocument { fields(3) }

    // MARK: Queries

    private mutating func path() -> String {
        let keys = (0...(chance(2) ? random.next() % 3 : 0)).map { _ in
            pick(["a", "a", "b", "b", "c", "0", "1", "é", "d\\.e", "x\\\\y", "e"])
        }
        return keys.joined(separator: ".")
    }

    package mutating func query(_ depth: Int = 2) -> BSONDocument {
        if depth > 0, chance(4) {
            let name = pick(["$and", "$or", "$nor", "$not"])
            if name == "$not" { return ["$not": .document(query(depth - 1))] }
            return [name: .array(BSONArray((0..<1 + random.next() % 3).map { _ in .document(query(depth - 1)) }))]
        }
        var found: BSONDocument = [:]
        for _ in 0..<(chance(3) ? 2 : 1) {
            let name = chance(40) ? pick(["*", "**", "**.a"]) : path()
            found[name] = condition(depth)
        }
        if chance(10) { found["_id"] = ["$gte": .string(pick(["1", "3", "a"]))] }
        return found
    }

    private mutating func condition(_ depth: Int) -> BSONValue {
        if chance(4) { return plain() }
        var condition: BSONDocument = [:]
        for _ in 0..<(chance(4) ? 2 : 1) {
            let (name, operand) = operation(depth)
            condition[name] = operand
            if name == "$regex", chance(4) { condition["$options"] = .string(pick(["i", "m", "s", "x"])) }
        }
        return .document(condition)
    }

    /// A value to compare with.
    private mutating func plain() -> BSONValue {
        let value = chance(6) ? value(1) : scalar()
        // An empty document and names with what is special in paths.
        if case .document = value { return .document(["a": scalar()]) }
        return value
    }

    private mutating func bound() -> BSONValue {
        while true {
            let value = chance(8) ? value(1) : scalar()
            if case .regularExpression = value { continue }
            return value
        }
    }

    private mutating func text() -> BSONValue {
        chance(4) ? ["a", .string(pick(Self.texts))] : .string(pick(Self.texts))
    }

    private mutating func operation(_ depth: Int) -> (String, BSONValue) {
        switch random.next() % 26 {
        case 0, 1: return ("$eq", bound())
        case 2, 3: return ("$ne", bound())
        case 4...7: return (pick(["$gt", "$gte", "$lt", "$lte"]), bound())
        case 8: return (pick(["$in", "$nin"]), .array(BSONArray((0..<random.next() % 9).map { _ in scalar() })))
        case 9: return ("$exists", .bool(chance(2)))
        case 10: return (pick(["$begin", "$beginsWith", "$endsWith", "$contains"]), text())
        case 11: return (pick(["$begin", "$contains"]), text())
        case 12, 13:
            return (
                "$regex",
                .string(pick(["^a", "a", "^a.*b$", "^(a|b)", "^é", "b$", "^ab?", "^a{0}", "^a\\.b", "^", "^a\nb"]))
            )
        case 14: return ("$all", .array(BSONArray((0..<random.next() % 3).map { _ in scalar() })))
        case 15: return ("$size", BSONValue(Int(random.next() % 4)))
        case 16, 17:
            guard depth > 0 else { return ("$exists", true) }
            let inner: BSONDocument = chance(2) ? self.query(depth - 1) : element(depth - 1)
            return (pick(["$elemMatch", "$elemMatch", "$allMatch"]), .document(inner))
        case 18:
            return (
                "$type",
                pick([
                    "string", "bool", "null", "array", "object", "number", "int", "date", "decimal",
                    ["string", "null"], 2, 16,
                ])
            )
        case 19: return ("$mod", [pick([2, 3, 4]), pick([0, 1, -1])])
        case 20:
            guard depth > 0 else { return ("$eq", bound()) }
            return ("$not", .document(element(depth - 1)))
        case 21:
            guard depth > 0 else { return ("$ne", bound()) }
            return (pick(["$and", "$or", "$nor"]), [.document(element(depth - 1)), .document(element(depth - 1))])
        case 22: return ("$icase", .string(pick(Self.texts)))
        case 23: return (pick(["$strand", "$stror"]), .string(pick(Self.texts)))
        case 24: return (pick(["$bitsAllSet", "$bitsAnyClear"]), 1)
        default:
            let bounds: [BSONValue] = pick([
                [1, 5], [5.0, 1.5], ["a", "b"], ["b", "A"], [.date(1_000), .date(1_714_564_800_000)], [1, 1.5],
                [true, false],
            ])
            return (pick(["$bt", "$between"]), .array(BSONArray(bounds)))
        }
    }

    private mutating func element(_ depth: Int) -> BSONDocument {
        let (name, operand) = operation(depth)
        return [name: operand]
    }
}
