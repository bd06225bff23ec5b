import Foundation
import Testing

import TansuBSON

struct NumberComparisonTests {
    @Test func numbersOfSwiftAreComparedByValue() throws {
        let document: BSONDocument = ["a": .int64(3), "b": .double(3), "c": .decimal128(Decimal128(3)), "d": "3"]
        #expect(BSONValue.int64(3) == 3)
        #expect(BSONValue.int32(3) == 3.0)
        #expect(BSONValue.double(2.5) == 2.5)
        #expect(BSONValue.double(2.5) != 2)
        #expect(BSONValue.int64(3) != 4)
        for key in ["a", "b", "c"] {
            #expect(document[key] == 3)
            #expect(document[key] == 3.0)
            #expect(document[key] != 4)
        }
        for key in ["d", "e"] { #expect(document[key] != 3) }
        #expect(BSONValue.null != 0)
        #expect(BSONValue.double(.nan) != 0.0)
        // Values of BSON are of their types.
        #expect(BSONValue.int64(3) != BSONValue.int32(3))
        #expect(document["a"] == .int64(3))
        #expect(document["e"] == nil)
    }
}
