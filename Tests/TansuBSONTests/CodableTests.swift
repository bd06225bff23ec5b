import Foundation
import Testing

@testable import TansuBSON

/// The behaviour of Codable types that users of Foundation's JSONEncoder expect.
struct CodableTests {
    func roundTrip<T: Codable & Equatable>(_ value: T) throws {
        let document = try BSONEncoder().encode(value)
        #expect(try BSONDecoder().decode(T.self, from: document) == value)
        // What was written is valid BSON.
        #expect(try BSONDecoder().decode(T.self, from: document.bytes) == value)
    }

    struct Pet: Codable, Equatable { var species: String; var legs: Int? }
    struct Person: Codable, Equatable {
        var name: String
        var pet: Pet?
        var pets: [Pet] = []
        var tags: Set<String> = []
        var scores: [String: Double] = [:]
        var byNumber: [Int: String] = [:]
        var byPet: [PetKey: Int] = [:]
        var grid: [[Int?]] = []
    }
    struct PetKey: Codable, Hashable { var species: String }

    @Test func aStructBecomesADocumentInTheOrderOfItsProperties() throws {
        struct Flat: Encodable { var b = 1; var a = "x"; var c = 2.5; var d = true; var e: Int? }
        #expect(try BSONEncoder().encode(Flat()) == ["b": 1, "a": "x", "c": 2.5, "d": true])
    }

    @Test func nestedValuesAndCollectionsRoundTrip() throws {
        try roundTrip(Person(name: "mike"))
        try roundTrip(
            Person(
                name: "mike", pet: Pet(species: "cat", legs: 4),
                pets: [Pet(species: "dog"), Pet(species: "fish", legs: 0)],
                tags: ["a", "b"], scores: ["x": 1, "y": -0.5], byNumber: [1: "one", -2: "two"],
                byPet: [PetKey(species: "cat"): 3], grid: [[1, nil], [], [Int.max]]))
    }

    @Test func dictionariesBecomeDocumentsOrAlternatingArrays() throws {
        struct Maps: Encodable { var text = ["a": 1]; var number = [7: "x"]; var other = [PetKey(species: "cat"): 2] }
        #expect(
            try BSONEncoder().encode(Maps())
                == ["text": ["a": 1], "number": ["7": "x"], "other": [["species": "cat"], 2]])
    }

    enum Shape: Codable, Equatable {
        case empty
        case circle(radius: Double)
        case rectangle(Double, height: Double)
        indirect case pair(Shape, Shape)
    }
    enum Color: String, Codable { case red, green }
    enum Level: Int, Codable { case low = 1, high = 9 }
    struct Drawing: Codable, Equatable {
        var shapes: [Shape]; var color: Color; var level: Level; var colors: [Color: Int]
    }

    @Test func enumsRoundTripWithTheirPayloads() throws {
        let drawing = Drawing(
            shapes: [.empty, .circle(radius: 2), .rectangle(1, height: 2), .pair(.empty, .circle(radius: 1))],
            color: .green,
            level: .high, colors: [.red: 1])
        try roundTrip(drawing)
        let document = try BSONEncoder().encode(drawing)
        #expect(document[path: "shapes.2"] == ["rectangle": ["_0": 1.0, "height": 2.0]])
        #expect(document["color"] == "green")
        #expect(document["level"] == 9)
    }

    struct Numbers: Codable, Equatable {
        var a: Int8, b: Int16, c: Int32, d: Int64, e: Int
        var f: UInt8, g: UInt16, h: UInt32, i: UInt64, j: UInt
        var k: Float, l: Double, m: Bool
    }

    @Test func everyNumberTypeRoundTrips() throws {
        try roundTrip(
            Numbers(
                a: .min, b: .min, c: .min, d: .min, e: .min, f: .min, g: .min, h: .min, i: 0, j: 0, k: -.infinity,
                l: -0.0, m: false))
        try roundTrip(
            Numbers(
                a: .max, b: .max, c: .max, d: .max, e: .max, f: .max, g: .max, h: .max, i: UInt64(Int64.max),
                j: UInt(Int64.max), k: .greatestFiniteMagnitude, l: .leastNonzeroMagnitude, m: true))
    }

    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }
    final class Dog: Animal {
        var tricks: [String]
        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }
        enum CodingKeys: String, CodingKey { case tricks }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let encoder = container.superEncoder()
            try container.encode(tricks, forKey: .tricks)
            // The superclass is encoded after a later field, so its bytes are inserted.
            try super.encode(to: encoder)
        }
    }

    @Test func superclassesAreNestedDocuments() throws {
        let document = try BSONEncoder().encode(Dog(name: "rex", tricks: ["sit", "roll"]))
        #expect(document == ["super": ["name": "rex"], "tricks": ["sit", "roll"]])
        let dog = try BSONDecoder().decode(Dog.self, from: document)
        #expect(dog.name == "rex")
        #expect(dog.tricks == ["sit", "roll"])
    }

    @Test func anyValueCanBeEncodedAlone() throws {
        #expect(try BSONEncoder().encodeValue(5) == 5)
        #expect(try BSONEncoder().encodeValue([1, 2]) == [1, 2])
        #expect(try BSONEncoder().encodeValue("x") == "x")
        let id = ObjectID()
        #expect(try BSONEncoder().encodeValue(id) == .objectID(id))
        #expect(try BSONDecoder().decodeValue(ObjectID.self, from: .objectID(id)) == id)
        #expect(try BSONDecoder().decodeValue([Int].self, from: [1, 2]) == [1, 2])
        #expect(try BSONDecoder().decodeValue(Int?.self, from: .null) == nil)
    }

    struct Native: Codable, Equatable {
        var id = ObjectID()
        var value: BSONValue = ["a": [1, nil]]
        var document: BSONDocument = ["x": 1]
        var array: BSONArray = [1, "two"]
        var decimal = Decimal128("1.50")
        var binary = BSONBinary([1, 2], subtype: .md5)
        var timestamp = BSONTimestamp(seconds: 1, increment: 2)
        var regex = BSONRegularExpression("^a", options: "i")
        var code = BSONCode("f()")
        var scoped = BSONCode("f()", scope: ["x": 1])
        var pointer = BSONDBPointer(collection: "c", id: ObjectID())
        var symbol = BSONSymbol("s")
        var extremes: [BSONValue] = [
            .minKey, .maxKey, .undefined, .double(.nan), .double(-.infinity), .date(5), .int64(7),
        ]
    }

    @Test func thisModulesTypesAreStoredAsWhatTheyAre() throws {
        let native = Native()
        try roundTrip(native)
        let document = try BSONEncoder().encode(native)
        #expect(
            document.map(\.value.type) == [
                .objectID, .document, .document, .array, .decimal128, .binary, .timestamp, .regularExpression, .code,
                .codeWithScope, .dbPointer, .symbol, .array,
            ])
    }

    @Test func otherCodersKeepThisModulesTypes() throws {
        let native = Native()
        let json = try JSONEncoder().encode(native)
        var back = try JSONDecoder().decode(Native.self, from: json)
        // JSON has one kind of integer, and an object has no order.
        #expect(back.extremes.last == .int32(7))
        back.extremes[6] = .int64(7)
        #expect(back == native)
        #expect(
            try JSONDecoder().decode([String].self, from: JSONEncoder().encode([native.id])) == [native.id.hexString])
    }

    @Test func userInfoReachesTheValues() throws {
        struct Spy: Codable {
            var seen: String?
            init() {}
            init(from decoder: any Decoder) throws { seen = decoder.userInfo[Self.key] as? String }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: BSONCodingKey.self)
                try container.encode(encoder.userInfo[Self.key] as? String, forKey: BSONCodingKey(stringValue: "seen"))
            }
            static let key = CodingUserInfoKey(rawValue: "key").unsafelyUnwrapped
        }
        var encoder = BSONEncoder()
        encoder.userInfo[Spy.key] = "hello"
        #expect(try encoder.encode(["inner": Spy()]) == ["inner": ["seen": "hello"]])
        var decoder = BSONDecoder()
        decoder.userInfo[Spy.key] = "hello"
        #expect(try decoder.decode([String: Spy].self, from: ["inner": [:]])["inner"]?.seen == "hello")
    }
}
