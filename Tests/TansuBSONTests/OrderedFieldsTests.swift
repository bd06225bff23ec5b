import Testing

@testable import TansuBSON

@Suite("Fields that are asked for in their order")
struct OrderedFieldsTests {
    private static let keys: [StaticString] = ["_id", "a", "ab", "b", "", "größe", "seq", "a long key of a document"]

    @Test("they are those of the subscript, in whatever order the document has them")
    func sameAsSubscript() {
        var random = SeededGenerator(seed: 6)
        for round in 0..<500 {
            var document = BSONDocument()
            var order = Self.keys
            if round % 3 == 0 { order.shuffle(using: &random) }
            for key in order where Int.random(in: 0..<4, using: &random) > 0 {
                document["\(key)"] = round % 2 == 0 ? .int64(Int64(round)) : .string("value \(key)")
            }
            let asked = Self.keys.filter { _ in Int.random(in: 0..<5, using: &random) > 0 }
            document.withOrderedFields { fields in
                for key in asked {
                    #expect(fields.value(key) == document["\(key)"], "\(key) of \(document)")
                }
            }
        }
    }

    @Test("a document without fields has none")
    func empty() {
        BSONDocument().withOrderedFields { fields in
            #expect(fields.value("_id") == nil)
            #expect(fields.value("") == nil)
        }
    }
}
