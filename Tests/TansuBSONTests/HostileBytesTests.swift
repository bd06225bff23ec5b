import Foundation
import Testing

@testable import TansuBSON

/// Malformed bytes are rejected with an error, and no bytes crash the functions of a document.
struct HostileBytesTests {
    /// Calls the functions of a document, to detect crashes, and returns the number of fields.
    @discardableResult
    func exercise(_ document: BSONDocument) -> Int {
        var count = 0
        for (key, value) in document {
            // Invalid UTF-8 in a key is replaced, so the document does not have the replaced key.
            #expect(document[key] != nil || key.unicodeScalars.contains("\u{FFFD}"))
            _ = value.hashValue
            count += 1
        }
        #expect(document.extendedJSON(.canonical).hasPrefix("{"))
        #expect(document.extendedJSON(.relaxed, pretty: true).hasSuffix("}"))
        _ = try? BSONDecoder().decode([String: BSONValue].self, from: document)
        _ = try? BSONDecoder().decode(Nested.self, from: document)
        return count
    }

    struct Nested: Decodable {
        var a: [Nested]?
        var b: String?
        var k: [String: Nested]?
    }

    @Test func validBytesWithOneByteChangedAreRefusedOrUsable() {
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
            #expect(exercise(document) == document.count)
        }
        // Some changes only make another value, so both outcomes occur.
        #expect(accepted > 100)
        #expect(accepted < 3900)
    }

    @Test func bytesWithoutValidationDoNotCrash() {
        var random = SeededGenerator(seed: 7)
        var fields = 0
        for _ in 0..<3000 {
            var bytes = random.document().bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            fields += exercise(BSONDocument(trustedBytes: bytes))
        }
        // The bytes are close enough to BSON to be parsed.
        #expect(fields > 3000)
    }

    @Test func noiseIsRejected() throws {
        var random = SeededGenerator(seed: 8)
        var accepted = 0
        for _ in 0..<5000 {
            var noise = random.bytes(upTo: 60)
            // The right length and terminator, so that validation continues to the elements.
            if noise.count >= 5 {
                noise.replaceSubrange(0..<4, with: [UInt8(noise.count), 0, 0, 0])
                noise[noise.count - 1] = 0
            }
            switch Result(catching: { try BSONDocument(bytes: noise) }) {
            case .success(let document):
                accepted += 1
                // Five bytes with the right length and terminator are the empty document.
                #expect(noise.count == 5 || !document.isEmpty)
                #expect(noise.count >= 5)
                #expect(document.bytes == noise)
                #expect(exercise(document) == document.count)
            case .failure(let error):
                #expect(noise.count != 5)
                let error = try #require(error as? BSONError)
                #expect(try #require(error.offset) <= noise.count)
            }
        }
        #expect(accepted > 50)
        #expect(accepted < 500)
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
    func errorsHaveCodeAndPath(_ hex: String, _ code: BSONError.Code, _ path: String?) {
        let error = #expect(throws: BSONError.self) { try BSONDocument(bytes: bytes(hex)) }
        #expect(error?.code == code)
        #expect(error?.keyPath == path)
        #expect(error?.offset != nil)
    }

    @Test func errorsHaveThePathOfTheInnermostField() throws {
        let document: BSONDocument = ["x": 1, "outer": ["y": 2, "list": ["fine", "broken"]]]
        var bytes = document.bytes
        let offset = try #require(bytes.firstRange(of: Array("broken".utf8))?.lowerBound)
        bytes[offset] = 0xFF
        let error = #expect(throws: BSONError.self) { try BSONDocument(bytes: bytes) }
        #expect(error?.code == .invalidUTF8)
        #expect(error?.offset == offset)
        #expect(error?.keyPath == "outer.list.1")
    }
}
