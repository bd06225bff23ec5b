import Foundation
import Testing

@testable import TansuBSON

struct ValueTests {
    @Test func literalsMakeTheExpectedTypes() {
        let value: BSONValue = ["a": 1, "b": 2147483648, "c": 1.5, "d": "x\(1)", "e": true, "f": nil, "g": [1, [:]]]
        let fields = value.documentValue
        #expect(fields?["a"] == .int32(1))
        #expect(fields?["b"] == .int64(2_147_483_648))
        #expect(fields?["c"] == .double(1.5))
        #expect(fields?["d"] == .string("x1"))
        #expect(fields?["e"] == .bool(true))
        #expect(fields?["f"] == .null)
        #expect(fields?["g"] == .array([.int32(1), .document([:])]))
    }

    @Test func accessorsAnswerOnlyForTheirType() {
        #expect(BSONValue.int32(5).intValue == 5)
        #expect(BSONValue.int64(.max).intValue == .max)
        #expect(BSONValue.double(5).intValue == 5)
        #expect(BSONValue.double(5.5).intValue == nil)
        #expect(BSONValue.string("5").intValue == nil)
        #expect(BSONValue.int32(5).doubleValue == 5)
        #expect(BSONValue.int64(.max).doubleValue == nil)
        #expect(BSONValue.bool(true).intValue == nil)
        #expect(BSONValue.null.isNull)
        #expect(BSONValue.undefined.isNull == false)
    }

    @Test func foundationsTypesConvert() {
        let date = Date(timeIntervalSince1970: 1_700_000_000.123)
        #expect(BSONValue(date) == .date(1_700_000_000_123))
        #expect(BSONValue(date).dateValue == date)
        #expect(BSONValue(Date(timeIntervalSince1970: 1e300)) == .date(.max))
        let uuid = UUID()
        #expect(BSONValue(uuid).binaryValue?.uuid == uuid)
        #expect(BSONValue(Data([1, 2])).binaryValue?.data == Data([1, 2]))
    }

    @Test func equalityIsOfStoredBytes() {
        #expect(BSONValue.int32(1) != .int64(1))
        #expect(BSONValue.int32(1) != .double(1))
        #expect(BSONValue.double(.nan) == .double(.nan))
        #expect(BSONValue.double(0.0) != .double(-0.0))
        // "é" as one scalar and as two scalars are different values.
        #expect(BSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(BSONValue.string("a") != .symbol(BSONSymbol("a")))
    }

    @Test func equalValuesHashEqually() {
        var random = SeededGenerator(seed: 5)
        let values = (0..<300).map { _ in random.value() }
        for value in values {
            let copy = BSONDocument([("v", value)])["v"]
            #expect(copy == value)
            #expect(copy?.hashValue == value.hashValue)
        }
    }

    @Test func regularExpressionsSortTheirOptions() {
        #expect(BSONRegularExpression("a", options: "xmi").options == "imx")
        let document: BSONDocument = ["a": .regularExpression(BSONRegularExpression("a\0b"))]
        #expect(throws: BSONError.self) { try BSONDocument(bytes: document.bytes) }
    }
}
