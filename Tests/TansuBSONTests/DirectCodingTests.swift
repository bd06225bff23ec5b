import Foundation
import Testing

@testable import TansuBSON

/// Types that write and read their own fields give the same documents and errors as other Codable types.
struct DirectCodingTests {
    struct Point: Codable, Equatable, BSONWritable, BSONReadable {
        var x: Double
        var y: Double

        init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        func write(to fields: inout BSONFieldWriter) throws {
            fields.write("x", x)
            fields.write("y", y)
        }

        init(reading fields: inout BSONFieldReader) throws {
            x = try fields.read("x")
            y = try fields.read("y")
        }
    }

    /// A type that leaves its fields to the compiler.
    struct Plain: Codable, Equatable {
        var id: Int
        var point: Point
        var points: [Point]
    }

    struct City: Codable, Equatable {
        var id: ObjectID
        var name: String
        var count: Int
        var small: Int32
        var big: Int64
        var area: Double
        var isCapital: Bool
        var nickname: String?
        var rank: Int?
        var founded: Date
        var position: Point
        var plain: Plain?
        var border: [Point]
        var names: [String: String]
        var value: BSONValue

    }

    static func city(_ random: inout SeededGenerator) -> City {
        func point() -> Point { Point(x: random.double(), y: random.double()) }
        return City(
            id: random.objectID(), name: random.text(), count: .random(in: .min ... .max, using: &random),
            small: .random(in: .min ... .max, using: &random), big: .random(in: -9...9, using: &random),
            area: random.double(), isCapital: .random(using: &random),
            nickname: Bool.random(using: &random) ? random.text() : nil,
            rank: Bool.random(using: &random) ? .random(in: -9...9, using: &random) : nil,
            founded: Date(timeIntervalSince1970: Double(Int.random(in: -1 << 40...1 << 40, using: &random)) / 1000),
            position: point(),
            plain: Bool.random(using: &random) ? Plain(id: 7, point: point(), points: [point(), point()]) : nil,
            border: (0..<Int.random(in: 0...12, using: &random)).map { _ in point() },
            names: Bool.random(using: &random) ? [random.text(): random.text()] : [:], value: random.value())
    }

    static var generally: (BSONEncoder, BSONDecoder) {
        var encoder = BSONEncoder()
        encoder.usesDirectCoding = false
        var decoder = BSONDecoder()
        decoder.usesDirectCoding = false
        return (encoder, decoder)
    }

    @Test func bothWaysGiveTheSameDocumentsAndValues() throws {
        var random = SeededGenerator.fresh()
        let (encoder, decoder) = Self.generally
        for _ in 0..<300 {
            let city = Self.city(&random)
            let document = try BSONEncoder().encode(city)
            #expect(try BSONDocument(bytes: document.bytes) == document)
            #expect(try encoder.encode(city) == document)
            #expect(try BSONDecoder().decode(City.self, from: document) == city)
            #expect(try decoder.decode(City.self, from: document) == city)
            let shuffled = BSONDocument(document.map { ($0.key, $0.value) }.shuffled(using: &random))
            #expect(try BSONDecoder().decode(City.self, from: shuffled) == city)
        }
    }

    @Test func theProtocolIsUsedAtEveryPosition() throws {
        struct Marked: Codable, BSONWritable, BSONReadable {
            var by = "nobody"
            init() {}
            func write(to fields: inout BSONFieldWriter) throws { fields.write("by", "fields") }
            func encode(to encoder: any Encoder) throws { try ["by": "codable"].encode(to: encoder) }
            init(reading fields: inout BSONFieldReader) throws { by = "fields" }
            init(from decoder: any Decoder) throws { by = "codable" }
        }
        struct Outer: Codable { var one: Marked; var maybe: Marked?; var many: [Marked]; var map: [String: Marked] }
        let outer = Outer(one: Marked(), maybe: Marked(), many: [Marked()], map: ["k": Marked()])
        let inner: BSONValue = ["by": "fields"]
        #expect(try BSONEncoder().encode(Marked()) == ["by": "fields"])
        #expect(try BSONEncoder().encodeValue(Marked()) == inner)
        let document = try BSONEncoder().encode(outer)
        #expect(document == ["one": inner, "maybe": inner, "many": [inner], "map": ["k": inner]])
        let back = try BSONDecoder().decode(Outer.self, from: document)
        #expect(
            [back.one.by, back.maybe?.by, back.many[0].by, back.map["k"]?.by] == [
                "fields", "fields", "fields", "fields",
            ])
        let (encoder, decoder) = Self.generally
        #expect(try encoder.encode(Marked()) == ["by": "codable"])
        #expect(try decoder.decode(Marked.self, from: document).by == "codable")
        #expect(try JSONDecoder().decode(Marked.self, from: JSONEncoder().encode(Marked())).by == "codable")
    }

    struct Nested: Codable, Equatable, BSONWritable, BSONReadable {
        var a = 1
        var b = "x"
        init() {}
        func write(to fields: inout BSONFieldWriter) throws {
            try fields.writeDocument("inner") { inner in
                inner.write("a", a)
                try inner.writeDocument("deeper") { $0.write("b", b) }
            }
            fields.writeNull("nothing")
        }
        init(reading fields: inout BSONFieldReader) throws {
            let found = (fields.keys, fields.contains("nothing"), fields.contains("missing"))
            #expect(found == (["inner", "nothing"], true, false))
            (a, b) = try fields.readDocument("inner") { inner in
                let b: String = try inner.readDocument("deeper") { try $0.read("b") }
                return (try inner.read("a"), b)
            }
        }
    }

    @Test func documentsMayBeWrittenInPlace() throws {
        let document = try BSONEncoder().encode(Nested())
        #expect(document == ["inner": ["a": 1, "deeper": ["b": "x"]], "nothing": nil])
        #expect(try BSONDocument(bytes: document.bytes) == document)
        #expect(try BSONDecoder().decode(Nested.self, from: document) == Nested())
    }

    func path(_ keys: [any CodingKey]) -> [String] { keys.map { $0.intValue.map(String.init) ?? $0.stringValue } }

    @Test func errorsHaveThePath() throws {
        let missing = #expect(throws: DecodingError.self) {
            try BSONDecoder().decode([String: [Point]].self, from: ["p": [["x": 1, "y": 2], ["x": 1]]])
        }
        guard case .keyNotFound(let key, let context)? = missing else {
            Issue.record("expected keyNotFound")
            return
        }
        #expect(key.stringValue == "y")
        #expect(path(context.codingPath) == ["p", "1"])
        let wrong = #expect(throws: DecodingError.self) {
            try BSONDecoder().decode(Nested.self, from: ["inner": ["a": "one", "deeper": ["b": "x"]], "nothing": nil])
        }
        guard case .typeMismatch(_, let context)? = wrong else {
            Issue.record("expected typeMismatch")
            return
        }
        #expect(path(context.codingPath) == ["inner", "a"])
        #expect(throws: DecodingError.self) { try BSONDecoder().decode([String: Point].self, from: ["p": 5]) }
        #expect(throws: DecodingError.self) { try BSONDecoder().decode([String: Point].self, from: ["p": nil]) }
    }

    @Test func numbersConvertAsWithAnyOtherType() throws {
        struct Numbers: Codable, BSONReadable {
            var a: Int, b: Int32, c: Int64, d: Double, e: Int?
            init(reading fields: inout BSONFieldReader) throws {
                a = try fields.read("a")
                b = try fields.read("b")
                c = try fields.read("c")
                d = try fields.read("d")
                e = try fields.readIfPresent("e")
            }
        }
        let numbers = try BSONDecoder().decode(
            Numbers.self, from: ["a": .int64(1 << 40), "b": .double(5), "c": .int32(6), "d": .int32(7), "e": nil])
        #expect((numbers.a, numbers.b, numbers.c, numbers.d) == (1 << 40, 5, 6, 7))
        #expect(numbers.e == nil)
        #expect(throws: DecodingError.self) {
            try BSONDecoder().decode(Numbers.self, from: ["a": 1, "b": .int64(1 << 40), "c": 1, "d": 1])
        }
    }

    @Test func aKeyWithNULIsAnErrorAndFindsNothing() throws {
        struct Forger: Codable, BSONWritable, BSONReadable {
            init() {}
            func write(to fields: inout BSONFieldWriter) throws { fields.write("a\0b", 1) }
            init(reading fields: inout BSONFieldReader) throws {
                let isThere = fields.contains("a\0b")
                let number = try fields.readIfPresent("a\0b", as: Int.self)
                let text = try fields.readIfPresent("a\0b", as: String.self)
                #expect(!isThere)
                #expect(number == nil)
                #expect(text == nil)
            }
        }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Forger()) }
        // A field "a" whose value begins with the bytes that the rest of such a key would be.
        _ = try BSONDecoder().decode(Forger.self, from: ["a": .int32(0x62)])
        _ = try BSONDecoder().decode(Forger.self, from: ["a": .int64(0x62)])
    }

    @Test func anErrorThatIsCaughtLeavesNothingBehind() throws {
        struct Refused: Error {}
        struct Careful: Encodable, BSONWritable {
            func write(to fields: inout BSONFieldWriter) throws {
                fields.write("a", 1)
                try? fields.writeDocument("broken") {
                    $0.write("half", true)
                    throw Refused()
                }
                try? fields.write("big", Date(timeIntervalSince1970: .nan))
                try? fields.write("list", [Date(timeIntervalSince1970: .nan)])
                fields.write("b", 2)
            }
        }
        #expect(try BSONEncoder().encode(Careful()) == ["a": 1, "b": 2])
        #expect(try BSONEncoder().encode(["in": [Careful()]]) == ["in": [["a": 1, "b": 2]]])
    }

    @Test func endlessNestingIsRefused() {
        struct Endless: Encodable, BSONWritable {
            func write(to fields: inout BSONFieldWriter) throws { try fields.write("again", Endless()) }
        }
        struct Tunnel: Encodable, BSONWritable {
            func dig(_ fields: inout BSONFieldWriter) throws { try fields.writeDocument("deeper") { try dig(&$0) } }
            func write(to fields: inout BSONFieldWriter) throws { try dig(&fields) }
        }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Endless()) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Tunnel()) }
    }

    @Test func strategiesAndUserInfoReachTheFields() throws {
        struct Seen: Codable, BSONWritable, BSONReadable {
            var at = Date(timeIntervalSince1970: 1)
            var note = ""
            init() {}
            func write(to fields: inout BSONFieldWriter) throws {
                try fields.write("at", at)
                fields.write("note", fields.userInfo[Self.key] as? String)
            }
            init(reading fields: inout BSONFieldReader) throws {
                at = try fields.read("at")
                note = fields.userInfo[Self.key] as? String ?? ""
            }
            static let key = CodingUserInfoKey(rawValue: "key").unsafelyUnwrapped
        }
        var encoder = BSONEncoder()
        encoder.dateStrategy = .secondsSince1970
        encoder.userInfo[Seen.key] = "hello"
        #expect(try encoder.encode(Seen()) == ["at": 1.0, "note": "hello"])
        var decoder = BSONDecoder()
        decoder.dateStrategy = .secondsSince1970
        decoder.userInfo[Seen.key] = "hello"
        let seen = try decoder.decode(Seen.self, from: ["at": 1.0])
        #expect(seen.at == Seen().at)
        #expect(seen.note == "hello")
    }

    @Test func writingAroundAValueThatIsBeingWrittenIsAnError() throws {
        struct Inner: Encodable, BSONWritable {
            var disturb: () throws -> Void
            func encode(to encoder: any Encoder) throws {}
            func write(to fields: inout BSONFieldWriter) throws {
                fields.write("a", 1)
                try disturb()
                fields.write("b", 2)
            }
        }
        struct Outer: Encodable {
            func encode(to encoder: any Encoder) throws {
                let container = encoder.container(keyedBy: BSONCodingKey.self)
                var first = container
                var second = container
                let inner = Inner { try second.encode("x", forKey: BSONCodingKey(stringValue: "between")) }
                try first.encode(inner, forKey: BSONCodingKey(stringValue: "inner"))
            }
        }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Outer()) }
    }

    @Test func containersThatWereLeftTakeThemToo() throws {
        struct Late: Encodable {
            func encode(to encoder: any Encoder) throws {
                var top = encoder.container(keyedBy: BSONCodingKey.self)
                var inner = top.nestedContainer(
                    keyedBy: BSONCodingKey.self, forKey: BSONCodingKey(stringValue: "inner"))
                var list = top.nestedUnkeyedContainer(forKey: BSONCodingKey(stringValue: "list"))
                let open = top.superEncoder(forKey: BSONCodingKey(stringValue: "open"))
                let left = top.superEncoder(forKey: BSONCodingKey(stringValue: "left"))
                var single = left.singleValueContainer()
                try single.encode(Point(x: 1, y: 2))
                try top.encode(Point(x: 3, y: 4), forKey: BSONCodingKey(stringValue: "top"))
                try inner.encode(Point(x: 5, y: 6), forKey: BSONCodingKey(stringValue: "p"))
                try list.encode(Point(x: 7, y: 8))
                var late = open.singleValueContainer()
                try late.encode(Point(x: 9, y: 0))
                #expect(throws: EncodingError.self) { try late.encode(Point(x: 0, y: 0)) }
            }
        }
        func point(_ x: Double, _ y: Double) -> BSONValue { ["x": .double(x), "y": .double(y)] }
        let document = try BSONEncoder().encode(Late())
        #expect(try BSONDocument(bytes: document.bytes) == document)
        #expect(
            document == [
                "inner": ["p": point(5, 6)], "list": [point(7, 8)], "open": point(9, 0), "left": point(1, 2),
                "top": point(3, 4),
            ])
    }

    struct Eight<T: Codable & Equatable>: Codable, Equatable {
        var a: T, b: T, c: T, d: T, e: T, f: T, g: T, h: T
        init(_ x: T) { (a, b, c, d, e, f, g, h) = (x, x, x, x, x, x, x, x) }
    }

    /// A value of over 100 bytes with nested values, and one that is larger than the decoder's scratch memory of 4096.
    struct Link: Codable, Equatable, BSONReadable {
        var name: String
        var block: Eight<Double>
        var next: [Link]

        init(_ name: String, _ next: [Link]) {
            self.name = name
            block = Eight(Double(next.count))
            self.next = next
        }

        init(reading fields: inout BSONFieldReader) throws {
            next = try fields.read("next")
            name = try fields.read("name")
            block = try fields.read("block")
        }
    }

    struct Large: Codable, Equatable, BSONReadable {
        var name = "a name that needs memory of its own"
        var block = Eight(Eight(Eight(Eight(7))))
        init() {}
        init(reading fields: inout BSONFieldReader) throws {
            name = try fields.read("name")
            block = try fields.read("block")
        }
    }

    @Test func valuesMayBeLargeAndInsideEachOther() throws {
        let chain = (0..<90).reduce(Link("end", [])) { Link("link number \($1) of a chain", [$0]) }
        let document = try BSONEncoder().encode(chain)
        for _ in 0..<3 { #expect(try BSONDecoder().decode(Link.self, from: document) == chain) }
        #expect(MemoryLayout<Large>.size > 4096)
        let larges = try BSONEncoder().encode(["l": [Large(), Large()]])
        #expect(try BSONDecoder().decode([String: [Large]].self, from: larges) == ["l": [Large(), Large()]])
        // After an error in the middle all is as before.
        var broken = document
        try broken.setValue("no block", atPath: "next.0.next.0.block")
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Link.self, from: broken) }
        #expect(try BSONDecoder().decode(Link.self, from: document) == chain)
    }

    @Test func hostileBytesGiveErrors() throws {
        var random = SeededGenerator.fresh()
        var failures = 0
        for _ in 0..<3000 {
            var bytes = try BSONEncoder().encode(Self.city(&random)).bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            // Neither validated bytes nor bytes without validation may crash the process.
            do {
                _ = try BSONDecoder().decode(City.self, from: bytes)
            } catch {
                #expect(error is BSONError || error is DecodingError)
            }
            do {
                _ = try BSONDecoder().decode(City.self, from: BSONDocument(trustedBytes: bytes))
            } catch {
                failures += 1
                #expect(error is DecodingError)
            }
        }
        #expect(failures > 300)
    }
}

extension DirectCodingTests.City: BSONWritable {
    func write(to fields: inout BSONFieldWriter) throws {
        fields.write("_id", id)
        fields.write("name", name)
        fields.write("count", count)
        fields.write("small", small)
        fields.write("big", big)
        fields.write("area", area)
        fields.write("isCapital", isCapital)
        fields.write("nickname", nickname)
        fields.write("rank", rank)
        try fields.write("founded", founded)
        try fields.write("position", position)
        try fields.write("plain", plain)
        try fields.write("border", border)
        try fields.write("names", names)
        try fields.write("value", value)
    }
}

extension DirectCodingTests.City: BSONReadable {
    init(reading fields: inout BSONFieldReader) throws {
        id = try fields.read("_id")
        name = try fields.read("name")
        count = try fields.read("count")
        small = try fields.read("small")
        big = try fields.read("big")
        area = try fields.read("area")
        isCapital = try fields.read("isCapital")
        nickname = try fields.readIfPresent("nickname")
        rank = try fields.readIfPresent("rank")
        founded = try fields.read("founded")
        position = try fields.read("position")
        plain = try fields.readIfPresent("plain")
        border = try fields.read("border")
        names = try fields.read("names")
        value = try fields.read("value")
    }
}
