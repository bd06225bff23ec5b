import Testing

@testable import TansuBSON

struct DocumentTests {
    @Test func literalsKeepOrder() {
        let document: BSONDocument = ["z": 1, "a": 2, "m": ["y": 3, "b": 4]]
        #expect(document.keys == ["z", "a", "m"])
        #expect(document["m"]?.documentValue?.keys == ["y", "b"])
    }

    @Test func ofEqualKeysTheLastCounts() {
        let document: BSONDocument = ["a": 1, "b": 2, "a": "three"]
        #expect(document == ["a": "three", "b": 2])
    }

    @Test func fieldsAreSetInPlaceAppendedAndRemoved() throws {
        var document: BSONDocument = ["a": 1, "b": 2, "c": 3]
        document["b"] = "a longer value"
        #expect(document == ["a": 1, "b": "a longer value", "c": 3])
        document["d"] = nil
        #expect(document.count == 3)
        document["a"] = nil
        #expect(document.keys == ["b", "c"])
        document["e"] = .null
        #expect(document["e"] == .null)
        #expect(document.removeValue(forKey: "c") == 3)
        #expect(document.removeValue(forKey: "c") == nil)
        // After all that the bytes are a valid document.
        #expect(try BSONDocument(bytes: document.bytes) == document)
    }

    @Test func copiesAreIndependent() {
        let original: BSONDocument = ["a": 1]
        var copy = original
        copy["a"] = 2
        #expect(original["a"] == 1)
        #expect(copy["a"] == 2)
    }

    @Test func membersAreFields() {
        var person: BSONDocument = ["name": "mike"]
        person.age = 12
        #expect(person.name?.stringValue == "mike")
        #expect(person["age"]?.intValue == 12)
        #expect(person.missing == nil)
        #expect(person["x", default: 7] == 7)
        person["n", default: 0] = 5
        #expect(person.n == 5)
    }

    @Test func aKeyWithNULIsKeptAndRefused() throws {
        var document: BSONDocument = ["a\0b": 1]
        document["c\0\u{10}d"] = 2
        #expect(document["a\0b"] == 1)
        #expect(document["c\0\u{10}d"] == 2)
        #expect(document.count == 2)
        #expect(document["a"] == nil)
        #expect(document["a\u{FFFD}b"] == nil)
        document["a\0b"] = 3
        #expect(document["a\0b"] == 3)
        #expect(throws: BSONError.self) { try BSONDocument(bytes: document.bytes) }
        #expect(throws: BSONError.self) { try document.setValue(1, atPath: "x.a\0b") }
        document["a\0b"] = nil
        document["c\0\u{10}d"] = nil
        #expect(document.isEmpty)
        #expect(throws: Never.self) { try BSONDocument(bytes: document.bytes) }
    }

    @Test func itIsACollection() {
        let document: BSONDocument = ["a": 1, "b": "x", "c": nil]
        #expect(document.count == 3)
        #expect(document.map(\.key) == ["a", "b", "c"])
        #expect(document.values == [1, "x", nil])
        #expect(document.first?.key == "a")
        let second = document.index(after: document.startIndex)
        #expect(document[second].value == "x")
        #expect(document.distance(from: document.startIndex, to: document.endIndex) == 3)
        #expect(document.isEmpty == false)
        #expect(BSONDocument().isEmpty)
        #expect(BSONDocument().first == nil)
    }

    @Test func equalityKnowsOrderAndCanIgnoreIt() {
        let a: BSONDocument = ["x": 1, "y": ["p": [1, ["q": 1, "r": 2]]]]
        let b: BSONDocument = ["y": ["p": [1, ["r": 2, "q": 1]]], "x": 1]
        #expect(a != b)
        #expect(a.equalsIgnoringKeyOrder(b))
        #expect(!a.equalsIgnoringKeyOrder(["y": ["p": [["r": 2, "q": 1], 1]], "x": 1]))
        #expect(!a.equalsIgnoringKeyOrder(["x": 1, "z": ["p": [1, ["q": 1, "r": 2]]]]))
        // "é" as one scalar and as two scalars are different keys of the same size.
        let precomposed: BSONDocument = ["\u{E9}": "e\u{301}"]
        #expect(!precomposed.equalsIgnoringKeyOrder(["e\u{301}": "\u{E9}"]))
        #expect(
            !(["\u{E9}a": 1, "e\u{301}": 2] as BSONDocument).equalsIgnoringKeyOrder(["e\u{301}a": 1, "\u{E9}": 2]))
        let withScope: BSONDocument = ["c": .codeWithScope(BSONCode("f", scope: ["a": 1, "b": 2]))]
        #expect(withScope.equalsIgnoringKeyOrder(["c": .codeWithScope(BSONCode("f", scope: ["b": 2, "a": 1]))]))
    }

    @Test func valuesCanBeComparedWithoutOrderToo() {
        let a: BSONValue = [["x": 1, "y": 2], 3]
        let b: BSONValue = [["y": 2, "x": 1], 3]
        #expect(a != b)
        #expect(a.equalsIgnoringKeyOrder(b))
        #expect(!a.equalsIgnoringKeyOrder([3, ["x": 1, "y": 2]]))
        #expect(!BSONValue.int32(1).equalsIgnoringKeyOrder(.int64(1)))
    }

    @Test func arraysAreCollections() {
        var array: BSONArray = [1, "two", [3]]
        #expect(array.count == 3)
        #expect(array[1] == "two")
        #expect(array[3] == nil)
        #expect(array[-1] == nil)
        array.append(nil)
        #expect(Array(array) == [1, "two", [3], nil])
        #expect(BSONArray((0..<150).map { BSONValue($0) }).map(\.intValue) == Array(0..<150))
        #expect(BSONArray((0..<150).map { BSONValue($0) }).document.keys.last == "149")
    }

    @Test func theBytesAreThoseOfTheSpecification() {
        #expect(BSONDocument().bytes == [5, 0, 0, 0, 0])
        let document: BSONDocument = ["hello": "world"]
        #expect(document.bytes == bytes("160000000268656C6C6F0006000000776F726C640000"))
        document.withUnsafeBytes { #expect($0.count == 22) }
    }

    @Test("the last of several equal keys wins, in the place of the first, however many keys there are")
    func repeatedKeys() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let count = Int.random(in: 0..<40, using: &random)
            let fields = (0..<count).map { ("k\(Int.random(in: 0..<30, using: &random))", BSONValue.int64(Int64($0))) }
            var expected = BSONDocument()
            for (key, value) in fields { expected[key] = value }
            #expect(BSONDocument(fields) == expected)
        }
    }
}
