import Testing

@testable import TansuBSON

@Suite("Plain JSON, in which $ keys have no meaning")
struct PlainJSONTests {
    @Test("Objects that extended JSON would unwrap stay objects")
    func wrappers() throws {
        let value = try BSONValue(plainJSON: #"{"a": {"$date": "2026-11-22T00:00:00Z"}, "b": {"$regex": "^x"}}"#)
        #expect(value == ["a": ["$date": "2026-11-22T00:00:00Z"], "b": ["$regex": "^x"]])
    }

    @Test("The last of several equal keys wins, in the position of the first")
    func equalKeys() throws {
        let value = try BSONValue(plainJSON: #"{"a": 1, "b": {"c": 1, "c": 2}, "a": [3]}"#)
        #expect(value == ["a": [3], "b": ["c": 2]])
        let many = (0..<100).map { "\"\($0 % 50)\": \($0)" }.joined(separator: ",")
        #expect(try BSONValue(plainJSON: "{\(many)}").documentValue?.map(\.value) == (50..<100).map { BSONValue($0) })
    }

    @Test("Integers beyond 64 bits keep their value")
    func largeIntegers() throws {
        #expect(try BSONValue(plainJSON: "18446744073709551616").decimal128Value == Decimal128("18446744073709551616"))
        #expect(try BSONValue(plainJSON: "-18446744073709551617").decimal128Value?.isNegative == true)
        #expect(try BSONValue(plainJSON: "1e30") == 1e30)
        #expect(try BSONValue(plainJSON: "100000000000000000000.5") == .double(1e20))
        // Of more than 34 digits only the nearest double is left.
        let digits = String(repeating: "1", count: 41)
        #expect(try BSONValue(plainJSON: digits).doubleValue == Double(digits))
    }

    @Test("Errors and the maximum depth are those of extended JSON")
    func errors() {
        for text in ["", "{", "[1,]", "{\"a\":1e400}", "{\"a\\u0000\":1}", "nul", "1 2"] {
            #expect(throws: BSONError.self, "\(text)") { try BSONValue(plainJSON: text) }
        }
        let deep = String(repeating: "[", count: 201) + String(repeating: "]", count: 201)
        #expect(throws: BSONError.self) { try BSONValue(plainJSON: deep) }
    }
}
