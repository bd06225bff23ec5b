import Foundation
import Testing

@testable import TansuBSON

/// Whatever the bytes are: they are refused with an error, or everything can be done with the document.
struct HostileBytesTests {
    /// Does all that can be done with a document; a crash is what this looks for.
    func walk(_ document: BSONDocument) {
        for (key, value) in document {
            _ = document[key]
            _ = value.hashValue
        }
        _ = document.extendedJSON(.canonical)
        _ = document.extendedJSON(.relaxed, pretty: true)
        _ = try? BSONDecoder().decode([String: BSONValue].self, from: document)
        _ = try? BSONDecoder().decode(Nested.self, from: document)
    }

    struct Nested: Decodable {
        var a: [Nested]?
        var b: String?
        var k: [String: Nested]?
    }

    @Test func validBytesWithOneByteChangedAreRefusedOrWalkable() {
        var random = SeededGenerator(seed: 6)
        var accepted = 0
        for _ in 0..<4000 {
            var bytes = random.document().bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let document = try? BSONDocument(bytes: bytes) else { continue }
            accepted += 1
            #expect(document.bytes == bytes)
            walk(document)
        }
        // Some changes only make another value, so both branches were seen.
        #expect(accepted > 100)
        #expect(accepted < 3900)
    }

    @Test func bytesThatNobodyValidatedDoNotCrash() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            var bytes = random.document().bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            walk(BSONDocument(trustedBytes: bytes))
        }
    }

    @Test func noiseIsRefused() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<5000 {
            var noise = random.bytes(upTo: 60)
            // With the right length, so that the check gets past its first line.
            if noise.count >= 5 {
                noise.replaceSubrange(0..<4, with: [UInt8(noise.count), 0, 0, 0])
                noise[noise.count - 1] = 0
            }
            if let document = try? BSONDocument(bytes: noise) { walk(document) }
        }
    }

    @Test func everyTruncationIsRefused() {
        let document: BSONDocument = [
            "a": "text", "b": [1, 2.5, nil], "c": .codeWithScope(BSONCode("x", scope: ["y": 1])),
        ]
        for count in 0..<document.bytes.count {
            #expect(throws: BSONError.self) { try BSONDocument(bytes: document.bytes.prefix(count)) }
        }
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> BSONDocument {
            (1..<depth).reduce(BSONDocument()) { inner, _ in ["a": .document(inner)] }
        }
        #expect(throws: Never.self) { try BSONDocument(bytes: nested(200).bytes) }
        let error = #expect(throws: BSONError.self) { try BSONDocument(bytes: nested(201).bytes) }
        #expect(error?.code == .tooDeep)
        #expect(throws: BSONError.self) { try BSONDocument(bytes: nested(5000).bytes) }
        struct Chain: Decodable {
            final class Box: Decodable { let a: Box? }
            let a: Box?
        }
        #expect(throws: Never.self) { try BSONDecoder().decode(Chain.self, from: nested(200)) }
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Chain.self, from: nested(5000)) }
    }

    @Test(
        arguments: [
            ("09000000 08 6100 02 00", .invalidValue, "a"),
            ("0E000000 02 6100 02000000 E900 00", .invalidUTF8, "a"),
            ("0E000000 02 6100 02000000 6161 00", .missingTerminator, "a"),
            ("0E000000 02 6100 09000000 6100 00", .invalidLength, "a"),
            ("0D000000 03 6100 06000000 00 00", .invalidLength, "a"),
            ("08000000 20 6100 00", .invalidType, nil),
            ("08000000 08 6161 00", .missingTerminator, nil),
            ("05000000 01", .missingTerminator, nil),
            ("06000000 00", .invalidLength, nil),
        ] as [(String, BSONError.Code, String?)])
    func errorsTellCodeAndPath(_ hex: String, _ code: BSONError.Code, _ path: String?) {
        let error = #expect(throws: BSONError.self) { try BSONDocument(bytes: bytes(hex)) }
        #expect(error?.code == code)
        #expect(error?.keyPath == path)
        #expect(error?.offset != nil)
    }

    @Test func errorsTellTheInnermostField() throws {
        let document: BSONDocument = ["x": 1, "outer": ["y": 2, "list": ["fine", "broken"]]]
        var bytes = document.bytes
        let place = try #require(bytes.firstRange(of: Array("broken".utf8))?.lowerBound)
        bytes[place] = 0xFF
        let error = #expect(throws: BSONError.self) { try BSONDocument(bytes: bytes) }
        #expect(error?.code == .invalidUTF8)
        #expect(error?.offset == place)
        #expect(error?.keyPath == "outer.list.1")
    }
}
