import Foundation
import Testing

@testable import TansuBSON

/// Differential tests against Foundation's JSONEncoder and JSONDecoder.
struct JSONDifferentialTests {
    indirect enum Shape: Codable, Equatable {
        case empty
        case circle(radius: Double)
        case pair(Shape, Shape)
        case named(String, shapes: [Shape])
    }
    enum Color: String, Codable, CaseIterable { case red, green }
    struct Key: Codable, Hashable { var a: Int; var b: String }
    class Base: Codable {
        var name: String
        init(name: String) { self.name = name }
    }
    final class Derived: Base {
        var extra: [Int]?
        init(name: String, extra: [Int]?) {
            self.extra = extra
            super.init(name: name)
        }
        enum CodingKeys: String, CodingKey { case extra }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            extra = try container.decodeIfPresent([Int].self, forKey: .extra)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(extra, forKey: .extra)
            try super.encode(to: container.superEncoder())
        }
    }
    struct Sample: Codable {
        var text: String
        var number: Int
        var half: Double
        var flag: Bool
        var maybe: String?
        var list: [Int?]
        var grid: [[Double]]
        var byText: [String: Int]
        var byNumber: [Int: String]
        var byColor: [Color: Int]
        var byKey: [Key: Bool]
        var shape: Shape
        var object: Derived
        var unsigned: UInt16
        var words: Set<Color>
    }

    static func shape(_ random: inout SeededGenerator, _ depth: Int) -> Shape {
        switch Int.random(in: 0...(depth > 3 ? 1 : 3), using: &random) {
        case 0: .empty
        case 1: .circle(radius: half(&random))
        case 2: .pair(shape(&random, depth + 1), shape(&random, depth + 1))
        default: .named(random.text(), shapes: (0..<2).map { _ in shape(&random, depth + 1) })
        }
    }

    /// A number that JSON writes with a point, so that it is read as a double again.
    static func half(_ random: inout SeededGenerator) -> Double {
        Double(Int.random(in: -1_000_000...1_000_000, using: &random)) + 0.5
    }

    static func sample(_ random: inout SeededGenerator) -> Sample {
        Sample(
            text: random.text(), number: .random(in: -1 << 50...1 << 50, using: &random), half: half(&random),
            flag: .random(using: &random), maybe: Bool.random(using: &random) ? random.text() : nil,
            list: (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Bool.random(using: &random) ? .random(in: -9...9, using: &random) : nil
            },
            grid: (0..<3).map { _ in (0..<Int.random(in: 0...3, using: &random)).map { _ in half(&random) } },
            byText: Dictionary((0..<3).map { _ in (random.text(), 1) }) { a, _ in a },
            byNumber: [Int.random(in: -5...5, using: &random): random.text()],
            byColor: [.red: Int.random(in: -9...9, using: &random)],
            byKey: [Key(a: .random(in: -9...9, using: &random), b: random.text()): .random(using: &random)],
            shape: shape(&random, 0),
            object: Derived(name: random.text(), extra: Bool.random(using: &random) ? [1, 2] : nil),
            unsigned: .random(in: 0 ... .max, using: &random), words: [.green])
    }

    @Test func documentsAreTheObjectsOfFoundation() throws {
        var random = SeededGenerator.fresh()
        var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        encoder.idMapping = .none
        decoder.idMapping = .none
        let inOrder = JSONEncoder()
        inOrder.outputFormatting = .sortedKeys
        for _ in 0..<200 {
            let sample = Self.sample(&random)
            let json = try JSONEncoder().encode(sample)
            let document = try encoder.encode(sample)
            #expect(try BSONDocument(extendedJSON: [UInt8](json)).equalsIgnoringKeyOrder(document))
            // Read back by either decoder it is the same value; written by Foundation it can be compared.
            let back = try decoder.decode(Sample.self, from: document)
            #expect(try inOrder.encode(back) == inOrder.encode(sample))
            let read = try decoder.decode(Sample.self, from: BSONDocument(extendedJSON: [UInt8](json)))
            #expect(try inOrder.encode(read) == inOrder.encode(sample))
        }
    }

    /// Both decoders give the same result or the same kind of error for a document with one changed value.
    @Test func whatFoundationRefusesIsRefused() throws {
        struct Target: Codable { var a: Int; var b: [String]; var c: Shape; var d: [String: Double]; var e: Color? }
        let target = Target(a: 1, b: ["x", "y"], c: .circle(radius: 0.5), d: ["k": 0.5], e: .red)
        let good = try BSONEncoder().encode(target)
        let replacements: [BSONValue] = [nil, "text", 1.5, true, [1], ["x": 1], [:], [[]]]
        for path in ["a", "b", "b.1", "c", "c.circle", "c.circle.radius", "d", "d.k", "e"] {
            for value in replacements {
                var changed = good
                try changed.setValue(value, atPath: path)
                let json = Data(changed.extendedJSON(.relaxed).utf8)
                let name = Comment(rawValue: "\(path) = \(value)")
                let theirs = Self.kind { try JSONDecoder().decode(Target.self, from: json) }
                let ours = Self.kind { try BSONDecoder().decode(Target.self, from: changed) }
                #expect(ours == theirs, name)
            }
            var removed = good
            try removed.removeValue(atPath: path)
            let json = Data(removed.extendedJSON(.relaxed).utf8)
            let theirs = Self.kind { try JSONDecoder().decode(Target.self, from: json) }
            let ours = Self.kind { try BSONDecoder().decode(Target.self, from: removed) }
            #expect(ours == theirs, "without \(path)")
        }
    }

    /// The outcome of decoding as text that is comparable between the decoders.
    static func kind<T>(_ decode: () throws -> T) -> String {
        let result = Result { try decode() }
        guard case .failure(let error) = result else { return "read" }
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): return "no key \(key.stringValue) \(path(context))"
        case .typeMismatch(_, let context): return "mismatch \(path(context))"
        case .valueNotFound(_, let context): return "no value \(path(context))"
        // Foundation does not report the path of a number that does not fit.
        case .dataCorrupted: return "corrupted"
        default: return "\(error)"
        }
    }

    static func path(_ context: DecodingError.Context) -> String {
        context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
