#if TansuSync
import Foundation
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("The wire: types that JSON lacks")
struct WireTypeTests {
    private func json(_ fields: BSONDocument, _ form: WireJSONForm = .extended) throws -> String {
        let text = WireRevisionText(id: "x", revision: try #require(Revision("1-a")), fields: fields).json(form)
        let prefix = #"{"_id":"x","_rev":"1-a","#
        let whole = String(decoding: text, as: UTF8.self)
        try #require(whole.hasPrefix(prefix))
        return "{" + whole.dropFirst(prefix.count)
    }

    static let values: [BSONValue] = [
        .double(1), .double(-0.5), .double(1e300), .double(.leastNonzeroMagnitude), .double(.nan),
        .double(.infinity),
        .double(-.infinity), .double(-0.0), .string(""), .string("a\"\\\u{0}\n\u{1F}\u{7F}ü😀"), .document([:]),
        .document(["a": ["b": [1, [2]]]]), .array([]), .binary(BSONBinary([1, 2, 255])),
        .binary(BSONBinary([], subtype: .uuid)), .binary(BSONBinary([9, 8], subtype: .oldBinary)),
        .binary(BSONBinary([7], subtype: .userDefined)), BSONValue(UUID()), .undefined,
        .objectID(ObjectID("507f1f77bcf86cd799439011") ?? ObjectID()), .bool(true), .bool(false), .date(0),
        .date(1_714_566_896_250), .date(-1), .date(.min), .date(.max), .date(253_402_300_799_999),
        .date(253_402_300_800_000), .null, .regularExpression(BSONRegularExpression("^a\"b", options: "im")),
        .dbPointer(BSONDBPointer(collection: "c", id: ObjectID())), .code("f()"), .symbol(BSONSymbol("s")),
        .codeWithScope(BSONCode("f()", scope: ["a": .date(5), "b": ["c": 1]])),
        .codeWithScope(BSONCode("", scope: [:])),
        .int32(0), .int32(.min), .int32(.max), .timestamp(BSONTimestamp(seconds: .max, increment: 7)),
        .int64(Int64(Int32.max) + 1), .int64(.min), .int64(.max), .int64(9_007_199_254_740_993), .minKey, .maxKey,
    ]
    static let decimals = [
        "0", "-0", "5", "1.50", "1E+3", "NaN", "Infinity", "-Infinity", "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809", "123456789012345678901234567890", "9999999999999999999999999999999999", "1E+6000",
        "0E-10", "-1.5E-20",
    ]

    @Test("Every type comes back as itself")
    func roundTrips() throws {
        let values = Self.values + Self.decimals.compactMap { Decimal128($0).map { .decimal128($0) } }
        #expect(values.count == Self.values.count + Self.decimals.count)
        for value in values {
            let fields: BSONDocument = ["v": value, "list": [value], "in": ["v": value]]
            let text = try json(fields)
            let read = try WireDocument(json: text.utf8).fields
            #expect(read.bytes == fields.bytes, "\(text)")
            // It is JSON for everyone.
            _ = try BSONValue(plainJSON: text)
        }
    }

    @Test("An integer keeps its value, and a decimal beyond 64 bits is a number")
    func integers() throws {
        let text = #"{"a":123456789012345678901234567890,"b":9007199254740993,"c":-0,"d":1.0,"e":5}"#
        let fields = try WireDocument(json: text.utf8).fields
        #expect(fields["c"] == .int32(0))
        #expect(try json(fields) == text.replacing("-0", with: "0"))
        // The width does not come back when a smaller one holds the value.
        #expect(try WireDocument(json: json(["a": .int64(5)]).utf8).fields == ["a": .int32(5)])
        // Of more than 34 digits only the nearest double is left.
        let digits = String(repeating: "1", count: 35)
        #expect(try WireDocument(json: "{\"a\":\(digits)}".utf8).fields == ["a": .double(Double(digits) ?? 0)])
    }

    /// Objects that extended JSON would refuse, or that are not what the writer makes of a value.
    @Test(
        "What only looks like extended JSON stays as it is",
        arguments: [
            #"{"$oid":5}"#, #"{"$oid":"507F1F77BCF86CD799439011"}"#, #"{"$oid":"507f1f77bcf86cd799439011","a":1}"#,
            #"{"$date":"yesterday"}"#, #"{"$date":"2024-05-01T14:00:00+02:00"}"#,
            #"{"$date":"2024-05-01T12:00:00.000Z"}"#,
            #"{"$date":5}"#, #"{"$date":{"$numberLong":"5"}}"#, #"{"$date":"1969-12-31T23:59:59Z"}"#,
            #"{"$numberInt":"5"}"#, #"{"$numberLong":"5"}"#, #"{"$numberDouble":"1.5"}"#,
            #"{"$numberDecimal":"1.5.0"}"#,
            #"{"$numberDecimal":"+1"}"#, #"{"$numberDecimal":"9223372036854775808"}"#, #"{"$numberDecimal":"inf"}"#,
            #"{"$binary":{"base64":"AQ==","subType":"0"}}"#, #"{"$binary":{"base64":"AR==","subType":"00"}}"#,
            #"{"$binary":"AQ=="}"#, #"{"$uuid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}"#,
            #"{"$regex":"^a","$options":"i"}"#,
            #"{"$regularExpression":{"pattern":"a"}}"#, #"{"$timestamp":{"t":-1,"i":0}}"#, #"{"$minKey":2}"#,
            #"{"$undefined":false}"#, #"{"$code":5}"#, #"{"$code":"f","$scope":5}"#, #"{"$symbol":1}"#,
            #"{"$gt":5}"#, #"{"$dbPointer":{"$ref":"a","$id":"b"}}"#, #"{"a":{"$and":[{"$oid":1}]}}"#,
            #"{"$regularExpression":{"pattern":"a\u0000","options":""}}"#,
        ])
    func lookalikes(text: String) throws {
        let whole = "{\"v\":\(text)}"
        let fields = try WireDocument(json: whole.utf8).fields
        #expect(try fields == BSONValue(plainJSON: whole).documentValue)
        #expect(try json(fields) == whole)
    }

    @Test("The order of two members of a wrapper does not matter")
    func order() throws {
        let text = #"{"a":{"$timestamp":{"i":2,"t":1}},"b":{"$binary":{"subType":"00","base64":"AQ=="}}}"#
        #expect(
            try WireDocument(json: text.utf8).fields == [
                "a": .timestamp(BSONTimestamp(seconds: 1, increment: 2)), "b": .binary(BSONBinary([1])),
            ])
    }

    @Test("Random JSON that CouchDB would store comes back with the same text")
    func randomText() throws {
        let seed = SeededGenerator.seed()
        print("TANSU_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let names = ["$oid", "$date", "$binary", "$numberDecimal", "$code", "$scope", "t", "a", "base64", "_x", ""]
        let texts = ["507f1f77bcf86cd799439011", "2024-05-01T12:00:00Z", "AQ==", "1.5", "f", "00", "", "é\u{0}\n"]
        func value(_ depth: Int) -> BSONValue {
            switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
            case 0: return .int32(.random(in: -3...3, using: &random))
            case 1: return .double(.random(in: -2...2, using: &random))
            case 2...4: return .string(texts.randomElement(using: &random) ?? "")
            case 5: return .array(BSONArray((0..<2).map { _ in value(depth - 1) }))
            default:
                var keys = names.shuffled(using: &random).prefix(.random(in: 1...2, using: &random))
                // The two members of this wrapper are read in any order and written in one.
                if keys.elementsEqual(["$scope", "$code"]) { keys.reverse() }
                return .document(BSONDocument(keys.map { ($0, value(depth - 1)) }))
            }
        }
        for _ in 0..<3000 {
            let plain: BSONDocument = ["v": value(4)]
            var writer = WireJSONWriter(.extended)
            writer.value(.document(plain))
            let text = String(decoding: writer.finish(), as: UTF8.self)
            let again = try json(WireDocument(json: text.utf8).fields)
            #expect(again == text, "\(text) comes back as \(again)")
        }
    }

    @Test("The plain form: dates as text, binary as base64")
    func plainForm() throws {
        let fields: BSONDocument = [
            "date": .date(1_714_566_896_250), "old": .date(-1), "far": .date(.max),
            "binary": .binary(BSONBinary([1])),
            "id": .objectID(try #require(ObjectID("507f1f77bcf86cd799439011"))),
            "decimal": .decimal128(try #require(Decimal128("1.50"))), "nan": .double(.nan), "code": .code("f"),
            "long": .int64(.max), "none": .undefined, "big": .decimal128(try #require(Decimal128("1E+6000"))),
        ]
        let text = try json(fields, .plain)
        #expect(
            text
                == #"{"date":"2024-05-01T12:34:56.250Z","old":"1969-12-31T23:59:59.999Z","far":9223372036854775807,"#
                + #""binary":"AQ==","id":"507f1f77bcf86cd799439011","decimal":1.50,"nan":null,"code":"f","#
                + #""long":9223372036854775807,"none":null,"big":"1E+6000"}"#)
    }
}
#endif
