import Foundation
import Testing

@testable import TansuBSON

/// decode(encode(x)) == x for random values of a type that has some of everything.
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
            date: Date(timeIntervalSince1970: Double(Int64.random(in: -1 << 45...1 << 45, using: &random)) / 1000),
            data: Data(bits),
            uuid: BSONBinary((0..<16).map { _ in .random(in: 0...255, using: &random) }, subtype: .uuid).uuid ?? UUID(),
            decimal: Decimal(Int.random(in: .min ... .max, using: &random)) / 1_000_000,
            list: (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random) ? random.double() : nil
            },
            map: Dictionary((0..<4).map { _ in (random.text(), [1, 2, 3]) }) { a, _ in a },
            tree: node(&random, 0), value: random.value(), document: random.document())
    }

    @Test func randomValuesComeBack() throws {
        var random = SeededGenerator(seed: 10)
        for _ in 0..<200 {
            let value = everything(&random)
            let document = try BSONEncoder().encode(value)
            #expect(throws: Never.self) { try BSONDocument(bytes: document.bytes) }
            #expect(try BSONDecoder().decode(Everything.self, from: document) == value)
            // By way of text, and with the fields in another order.
            let text = try BSONDocument(extendedJSON: document.extendedJSON(.canonical))
            let shuffled = BSONDocument(text.map { ($0.key, $0.value) }.shuffled(using: &random))
            #expect(try BSONDecoder().decode(Everything.self, from: shuffled) == value)
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
