import Foundation
import Testing

@testable import TansuBSON

/// JSON of RFC 8259, with the texts of JSONTestSuite.
struct JSONParsingTests {
    static let files = (try? Resource.files(in: "json-parsing")) ?? []

    /// Valid JSON that a document cannot store.
    static let refusedOnPurpose: [String: BSONError.Code] = [
        "y_object_duplicated_key.json": .duplicateKey,
        "y_object_duplicated_key_and_value.json": .duplicateKey,
        "y_object_escaped_null_in_key.json": .invalidKey,
    ]

    /// The texts of implementation-defined validity that this parser accepts.
    static let acceptedByChoice: Set<String> = [
        "i_number_double_huge_neg_exp.json", "i_number_real_underflow.json", "i_number_too_big_neg_int.json",
        "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json",
    ]

    @Test(arguments: [("y_", 95), ("n_", 188), ("i_", 35)])
    func textsAreAcceptedOrRejected(_ prefix: String, _ expectedCount: Int) throws {
        var count = 0
        for file in Self.files where file.lastPathComponent.hasPrefix(prefix) {
            count += 1
            let name = file.lastPathComponent
            let text = try [UInt8](Data(contentsOf: file))
            let result = Result { try BSONValue(extendedJSON: text) }
            let code = Self.refusedOnPurpose[name]
            if let code {
                #expect(throws: BSONError.self, Comment(rawValue: name)) { try result.get() }
                if case .failure(let error as BSONError) = result { #expect(error.code == code) }
            } else if prefix == "y_" || Self.acceptedByChoice.contains(name) {
                #expect(throws: Never.self, Comment(rawValue: name)) { try result.get() }
                // The value can be written and read again.
                let again = try BSONValue(extendedJSON: result.get().extendedJSON(.canonical))
                #expect(try again == result.get(), Comment(rawValue: name))
            } else {
                #expect(throws: BSONError.self, Comment(rawValue: name)) { try result.get() }
            }
        }
        #expect(count == expectedCount)
    }

    @Test func errorsHaveLineAndColumn() {
        let error = #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: "{\"a\": 1,\n  \"b\": tru}") }
        #expect(error?.code == .invalidJSON)
        #expect(error?.line == 2)
        #expect(error?.column == 8)
        #expect(error?.offset == 16)
    }

    @Test func duplicateKeysAreNamed() {
        let error = #expect(throws: BSONError.self) {
            try BSONDocument(extendedJSON: #"{"pet": {"x": 1, "y": 2, "x": 3}}"#)
        }
        #expect(error?.code == .duplicateKey)
        #expect(error?.message.contains("\"x\"") == true)
    }

    @Test func duplicateKeysAreFoundAmongMany() throws {
        let fields = (0..<1000).map { "\"k\($0)\": \($0)" }
        #expect(try BSONDocument(extendedJSON: "{\(fields.joined(separator: ","))}").count == 1000)
        for repeated in ["k0", "k23", "k24", "k25", "k999"] {
            let text = "{\((fields + ["\"\(repeated)\": 0"]).joined(separator: ","))}"
            #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: text) }
        }
        // The same key at another level or in a sibling is another field.
        #expect(try BSONDocument(extendedJSON: #"{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}"#).count == 2)
    }

    @Test func depthIsBounded() throws {
        func arrays(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try BSONValue(extendedJSON: arrays(200)) }
        let error = #expect(throws: BSONError.self) { try BSONValue(extendedJSON: arrays(201)) }
        #expect(error?.code == .tooDeep)
        // Wrappers are not levels of the document.
        func date(_ depth: Int) -> String {
            String(repeating: #"{"a":"#, count: depth) + #"{"$date":{"$numberLong":"1"}}"#
                + String(repeating: "}", count: depth)
        }
        #expect(throws: Never.self) { try BSONValue(extendedJSON: date(200)) }
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: date(201)) }
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: objects) }
    }

    @Test(arguments: [
        ("1", BSONValue.int32(1)), ("-2147483648", .int32(.min)), ("2147483648", .int64(2_147_483_648)),
        ("9223372036854775807", .int64(.max)), ("-9223372036854775808", .int64(.min)),
        ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1.0", .double(1)), ("1e2", .double(100)),
        ("-0.0", .double(-0.0)), ("0.1", .double(0.1)), ("123456.789e-3", .double(123.456789)),
        ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("5e-324", .double(.leastNonzeroMagnitude)),
        ("0.30000000000000004", .double(0.1 + 0.2)), ("9007199254740993.0", .double(9_007_199_254_740_992)),
    ])
    func numbersKeepTypeAndValue(_ text: String, _ value: BSONValue) throws {
        #expect(try BSONValue(extendedJSON: text) == value)
    }

    @Test func numbersThatOverflowAreRefused() {
        let error = #expect(throws: BSONError.self) { try BSONValue(extendedJSON: "1e400") }
        #expect(error?.code == .numberOutOfRange)
    }

    @Test func escapesAreUnderstood() throws {
        let value = try BSONValue(extendedJSON: #""a\u0000\u00e9\ud83c\udf89\n\/\\""#)
        #expect(value == "a\0é🎉\n/\\")
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: #""\ud83c""#) }
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: #""\udf89\ud83c""#) }
    }
}
