import Foundation
import Testing

@testable import TansuBSON

/// Round trips of random values of a type with properties of all kinds.
struct RoundTripTests {
    indirect enum Node: Codable, Equatable {
        case leaf
        case number(Int)
        case branch(left: Node, right: Node)
        case labelled(String, [Node])
    }

    struct Everything: Codable, Equatable {
        var id: ObjectID
        var text: String
        var number: Int
        var small: Int8?
        var big: Int64
        var real: Double
        var flag: Bool
        var date: Date
        var data: Data
        var uuid: UUID
        var decimal: Decimal
        var list: [Double?]
        var map: [String: [Int]]
        var tree: Node
        var value: BSONValue
        var document: BSONDocument
        var url: URL
        var unsigned: UInt64
        var single: Float
        var byNumber: [Int: Node]
        var byID: [ObjectID: Bool]
        var nested: [[Small?]]?
        var decimal128: Decimal128
    }

    struct Small: Codable, Equatable {
        var id: Int
        var dates: [Date]
        var uuids: [String: UUID]
    }

    func date(_ random: inout SeededGenerator) -> Date {
        Date(timeIntervalSince1970: Double(Int64.random(in: -1 << 45...1 << 45, using: &random)) / 1000)
    }

    func uuid(_ random: inout SeededGenerator) -> UUID {
        BSONBinary((0..<16).map { _ in .random(in: 0...255, using: &random) }, subtype: .uuid).uuid ?? UUID()
    }

    func node(_ random: inout SeededGenerator, _ depth: Int) -> Node {
        switch Int.random(in: 0...(depth > 4 ? 1 : 3), using: &random) {
        case 0: .leaf
        case 1: .number(.random(in: .min ... .max, using: &random))
        case 2: .branch(left: node(&random, depth + 1), right: node(&random, depth + 1))
        default: .labelled(random.text(), (0..<3).map { _ in node(&random, depth + 1) })
        }
    }

    func everything(_ random: inout SeededGenerator) -> Everything {
        let bits = random.bytes(upTo: 40)
        return Everything(
            id: random.objectID(), text: random.text(), number: .random(in: .min ... .max, using: &random),
            small: Bool.random(using: &random) ? .random(in: .min ... .max, using: &random) : nil,
            big: .random(in: -5...5, using: &random), real: random.double(), flag: .random(using: &random),
            date: date(&random), data: Data(bits), uuid: uuid(&random),
            decimal: Decimal(Int.random(in: .min ... .max, using: &random)) / 1_000_000,
            list: (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random) ? random.double() : nil
            },
            map: Dictionary((0..<4).map { _ in (random.text(), [1, 2, 3]) }) { a, _ in a },
            tree: node(&random, 0), value: random.value(), document: random.document(),
            url: URL(string: "https://example.com/\(Int.random(in: 0...999, using: &random))?q=a%20b") ?? Self.url,
            unsigned: .random(in: 0...UInt64(Int64.max), using: &random), single: .random(in: -9...9, using: &random),
            byNumber: [.random(in: -9...9, using: &random): node(&random, 2)],
            byID: [random.objectID(): true, random.objectID(): false],
            nested: Bool.random(using: &random)
                ? nil
                : (0..<2).map { _ in
                    (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        Bool.random(using: &random)
                            ? nil
                            : Small(
                                id: .random(in: -9...9, using: &random), dates: [date(&random), date(&random)],
                                uuids: [random.text(): uuid(&random)])
                    }
                },
            decimal128: Decimal128(Int.random(in: .min ... .max, using: &random)))
    }

    static let url = URL(fileURLWithPath: "/")

    /// Coders that agree on strategies drawn at random.
    func coders(_ random: inout SeededGenerator) -> (BSONEncoder, BSONDecoder) {
        let dates: [BSONDateStrategy] = [
            .bsonDate, .millisecondsSince1970,
            .custom(
                encode: { ["at": .date($0)] },
                decode: { $0.documentValue?["at"]?.dateValue ?? Date(timeIntervalSince1970: 0) }),
        ]
        var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        encoder.dateStrategy = dates.randomElement(using: &random) ?? .bsonDate
        decoder.dateStrategy = encoder.dateStrategy
        encoder.dataStrategy = Bool.random(using: &random) ? .binary : .base64
        decoder.dataStrategy = encoder.dataStrategy
        encoder.uuidStrategy = Bool.random(using: &random) ? .binary : .string
        decoder.uuidStrategy = encoder.uuidStrategy
        encoder.urlStrategy = Bool.random(using: &random) ? .string : .deferredToURL
        decoder.urlStrategy = encoder.urlStrategy
        encoder.decimalStrategy = Bool.random(using: &random) ? .decimal128 : .string
        decoder.decimalStrategy = encoder.decimalStrategy
        encoder.idMapping = Bool.random(using: &random) ? .automatic : .none
        decoder.idMapping = encoder.idMapping
        return (encoder, decoder)
    }

    @Test func randomValuesComeBack() throws {
        var random = SeededGenerator.fresh()
        for _ in 0..<200 {
            let value = everything(&random)
            let (encoder, decoder) = coders(&random)
            let document = try encoder.encode(value)
            #expect(throws: Never.self) { try BSONDocument(bytes: document.bytes) }
            #expect(try decoder.decode(Everything.self, from: document) == value)
            #expect(try decoder.decodeValue(Everything.self, from: encoder.encodeValue(value)) == value)
            // Converted to text and back, with the fields in another order.
            let text = try BSONDocument(extendedJSON: document.extendedJSON(.canonical))
            let shuffled = BSONDocument(text.map { ($0.key, $0.value) }.shuffled(using: &random))
            #expect(try decoder.decode(Everything.self, from: shuffled) == value)
        }
    }

    @Test func oneEncoderServesManyThreads() async throws {
        let encoder = BSONEncoder()
        let decoder = BSONDecoder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(100 + seed))
                    for _ in 0..<30 {
                        let value = everything(&random)
                        let decoded = try decoder.decode(Everything.self, from: encoder.encode(value))
                        #expect(decoded == value)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
