#if TansuSync
import Foundation
import TansuBSON

/// What a server can be asked for a test of one value.
struct ValueTest: Sendable {
    /// Of the value that a path leads to, with keys below it.
    var bounds: SelectionBounds
    /// Of an element of an array, whose own keys cannot begin with `$`.
    var element: SelectionBounds
    /// Whether the upper bound finds arrays with such an element as well.
    var findsArrays = false
    /// The upper bound where every value is one that JSON has.
    var plain: Selection

    init(upper: Selection, lower: Selection = .none) {
        bounds = SelectionBounds(upper: upper, lower: lower)
        element = bounds
        plain = upper
    }

    init(_ selection: Selection) { self.init(upper: selection, lower: selection) }

    static func type(_ name: String) -> ValueTest { ValueTest(upper: .type(name)) }

    static func pattern(_ text: String) -> ValueTest { ValueTest(.field([], .holds("$regex", .string(text)))) }

    static func any(_ tests: [ValueTest]) -> ValueTest {
        var test = ValueTest(upper: .any(tests.map(\.plain)))
        test.bounds = .any(tests.map(\.bounds))
        test.element = .any(tests.map(\.element))
        return test
    }

    static func every(_ tests: [ValueTest]) -> ValueTest {
        var test = ValueTest(upper: .every(tests.map(\.plain)))
        test.bounds = .every(tests.map(\.bounds))
        test.element = .every(tests.map(\.element))
        return test
    }

    // MARK: Comparisons

    /// Equality with a value other than null. Objects stand for the types that JSON lacks, numbers among them.
    static func equal(_ value: BSONValue) -> ValueTest {
        switch value {
        case .string(let text):
            let isShort = text.utf8.count <= BytePattern.limit
            return ValueTest(
                upper: .field([], .holds("$eq", value)),
                lower: isShort ? .field([], .holds("$regex", .string(BytePattern.equal(text)))) : .none)
        case .bool: return ValueTest(.field([], .holds("$eq", value)))
        case .int32, .int64: return number("$eq", value)
        case .double(let number) where number.isFinite: return self.number("$eq", value)
        case .double, .decimal128: return ValueTest(upper: .any([.type("number"), .type("object")]))
        case .date: return ValueTest(upper: .field([], .holds("$eq", value)))
        case .objectID(let id):
            let equal = Selection.field([], .holds("$eq", value))
            var test = ValueTest(upper: equal)
            let digits = Selection.field(["$oid"], .holds("$regex", .string(BytePattern.equal(id.hexString))))
            test.bounds.lower = .every([equal, digits])
            return test
        case .array(let array):
            return ValueTest(upper: .every([.type("array"), .field([], .holds("$size", BSONValue(array.count)))]))
        case .document(let document): return ValueTest(upper: .every([.type("object")] + members(document)))
        case .null: return ValueTest(.field([], .holds("$eq", .null)))
        case .undefined, .minKey, .maxKey: return ValueTest(upper: .all)
        default: return .type("object")
        }
    }

    /// What an object that equals a document has.
    private static func members(_ document: BSONDocument) -> [Selection] {
        document.compactMap { key, value in
            guard Selection.canName([key]) else { return nil }
            return equal(value).element.upper.placed(at: [key])
        }
    }

    private static func number(_ name: String, _ value: BSONValue) -> ValueTest {
        let holds = Selection.field([], .holds(name, value))
        let number = name == "$eq" ? holds : .every([holds, .type("number")])
        guard name == "$gt" || name == "$gte" else {
            var test = ValueTest(upper: .any([number, .type("object")]), lower: number)
            // The range of numbers ends at the booleans.
            test.plain = name == "$eq" ? holds : .every([holds, .field([], .holds("$gt", true))])
            return test
        }
        // In the collation objects are greater than numbers, and arrays as well: one range of an index has them all.
        var test = ValueTest(upper: holds, lower: number)
        test.findsArrays = true
        test.plain = .every([holds, .field([], .holds("$lt", ""))])
        return test
    }

    /// A comparison with `$gt`, `$gte`, `$lt` or `$lte`.
    static func range(_ name: String, _ value: BSONValue) -> ValueTest {
        switch value {
        case .string(let text): return range(name, text: Array(text.utf8))
        case .bool: return .type("boolean")
        case .int32, .int64: return number(name, value)
        case .double(let double) where double.isFinite: return number(name, value)
        case .double, .decimal128: return ValueTest(upper: .any([.type("number"), .type("object")]))
        case .date(let milliseconds): return range(name, date: milliseconds)
        case .array: return .type("array")
        case .null, .undefined, .minKey, .maxKey, .regularExpression: return ValueTest(upper: .all)
        default: return .type("object")
        }
    }

    private static func range(_ name: String, text: [UInt8]) -> ValueTest {
        let orEqual = name == "$gte" || name == "$lte"
        let isGreater = name == "$gt" || name == "$gte"
        if text.count <= BytePattern.rangeLimit {
            return .pattern(
                isGreater
                    ? BytePattern.greater(than: text, orEqual: orEqual)
                    : BytePattern.less(than: text, orEqual: orEqual))
        }
        let start = Array(text[..<BytePattern.rangeLimit])
        func selection(_ pattern: String) -> Selection { .field([], .holds("$regex", .string(pattern))) }
        let from = selection(BytePattern.greater(than: start, orEqual: true))
        let to = selection(BytePattern.less(than: start, orEqual: true))
        // What begins like the text may be on either side.
        return isGreater
            ? ValueTest(upper: from)
            : ValueTest(upper: .any([to, from]), lower: to)
    }

    /// Dates are text in an object, to the second in one form; before 1970 and after 9999 the number in an object.
    private static func range(_ name: String, date milliseconds: Int64) -> ValueTest {
        let isGreater = name == "$gt" || name == "$gte"
        let (second, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let bound = isGreater || rest < 0 ? second : second + 1
        var test = ValueTest.type("object")
        guard milliseconds >= 0, var text = isoText(seconds: bound) else { return test }
        text.removeLast()
        let member = ["$date"]
        test.bounds.upper =
            isGreater
            ? .field(member, .holds("$gte", .string(text)))
            : .any([.field(member, .holds("$lte", .string(text + "Z"))), .type(member, "object")])
        test.plain = test.bounds.upper
        return test
    }

    /// Such as `2024-05-01T12:00:00Z`; nil for a year that is not written so.
    private static func isoText(seconds: Int64) -> String? {
        let (milliseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !isTooLarge else { return nil }
        let text = RemoteConnection.text(of: ["d": .date(milliseconds)])
        let plain = String(decoding: text, as: UTF8.self)
        guard let start = plain.range(of: "\"$date\":\""), plain.hasSuffix("Z\"}}") else { return nil }
        return String(plain[start.upperBound...].dropLast(3))
    }

    /// A value of a type of the query language.
    static func type(named name: BSONValue) -> ValueTest {
        switch name {
        case "string", 2: ValueTest(upper: .type("string"), lower: .type("string"))
        case "bool", 8: ValueTest(upper: .type("boolean"), lower: .type("boolean"))
        case "null", 10: ValueTest(upper: .type("null"), lower: .type("null"))
        case "array", 4: ValueTest(upper: .type("array"), lower: .type("array"))
        case "number":
            ValueTest(upper: .any([.type("number"), .type("object")]), lower: .type("number"))
        case "int", "long", "double", "decimal", 16, 18, 1, 19:
            ValueTest(upper: .any([.type("number"), .type("object")]))
        case .string: .type("object")
        default: ValueTest(upper: .all)
        }
    }
}

/// Regular expressions that test the bytes of text, as CouchDB runs them. They say exactly what the query language does, while
/// comparisons of Mango follow the collation.
enum BytePattern {
    /// The greatest number of bytes of text in a pattern.
    static let limit = 1_000
    /// The greatest number of bytes that a range looks at: each one is a group in the one before.
    static let rangeLimit = 24

    static func equal(_ text: String) -> String { "\\A\(literal(text))\\z" }
    static func beginning(_ text: String) -> String { "\\A\(literal(text))" }
    static func ending(_ text: String) -> String { "\(literal(text))\\z" }
    static func containing(_ text: String) -> String { literal(text) }

    /// Text whose bytes are greater than others, or equal to them as well.
    static func greater(than bytes: [UInt8], orEqual: Bool) -> String {
        var pattern = orEqual ? "" : "[\\x00-\\xFF]"
        for byte in bytes.reversed() {
            let greater = byte < 0xFF ? "[\(hex(byte + 1))-\\xFF]|" : ""
            pattern = "(?:\(greater)\(hex(byte))\(pattern))"
        }
        return "\\A" + pattern
    }

    /// Text whose bytes are less than others, or equal to them as well.
    static func less(than bytes: [UInt8], orEqual: Bool) -> String {
        // Without a byte to compare, only the end is left.
        var pattern = orEqual ? "\\z" : "(?!)"
        for byte in bytes.reversed() {
            let less = byte > 0 ? "[\\x00-\(hex(byte - 1))]|" : ""
            pattern = "(?:\\z|\(less)\(hex(byte))\(pattern))"
        }
        return "\\A" + pattern
    }

    private static func literal(_ text: String) -> String {
        text.utf8.reduce(into: "") { pattern, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                pattern.unicodeScalars.append(Unicode.Scalar(byte))
            default: pattern += hex(byte)
            }
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "\\x0\(digits)" : "\\x\(digits)"
    }
}
#endif
