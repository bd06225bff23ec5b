import Foundation
import Testing

@testable import TansuBSON

/// The BSON corpus of the specification, with valid and invalid documents.
struct CorpusTests {
    struct Suite: Decodable, CustomTestStringConvertible {
        struct Valid: Decodable {
            var description: String
            var canonical_bson: String
            var canonical_extjson: String
            var degenerate_bson: String?
            var degenerate_extjson: String?
            var relaxed_extjson: String?
            var lossy: Bool?
        }
        struct Refused: Decodable {
            var description: String
            var bson: String?
            var string: String?
        }
        var description: String
        var bson_type: String
        var test_key: String?
        var valid: [Valid]?
        var decodeErrors: [Refused]?
        var parseErrors: [Refused]?
        var testDescription: String { description }
    }

    static let suites: [Suite] = {
        let files = (try? Resource.files(in: "bson-corpus")) ?? []
        return files.compactMap { try? JSONDecoder().decode(Suite.self, from: Data(contentsOf: $0)) }
    }()

    /// The numbers of cases, so that the other tests cannot pass without running them.
    @Test func corpusIsComplete() {
        #expect(Self.suites.count == 34)
        #expect(Self.suites.reduce(0) { $0 + ($1.valid?.count ?? 0) } == 734)
        #expect(Self.suites.reduce(0) { $0 + ($1.parseErrors?.count ?? 0) } == 182)
        #expect(Self.suites.reduce(0) { $0 + ($1.decodeErrors?.count ?? 0) } == 76)
        let valid = Self.suites.flatMap { $0.valid ?? [] }
        #expect(valid.filter { $0.relaxed_extjson != nil }.count == 32)
        #expect(valid.filter { $0.degenerate_extjson != nil }.count == 325)
        #expect(valid.filter { $0.degenerate_bson != nil }.count == 5)
        for suite in Self.suites {
            #expect((suite.decodeErrors ?? []).allSatisfy { $0.bson != nil })
            #expect((suite.parseErrors ?? []).allSatisfy { $0.string != nil })
        }
    }

    /// The tests use all keys of the files, except those about conversions of deprecated types by other drivers.
    @Test func allKeysOfTheFilesAreUsed() throws {
        var keys: Set<String> = []
        for file in try Resource.files(in: "bson-corpus") {
            let suite = try #require(
                JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            keys.formUnion(suite.keys)
            for case let tests as [[String: Any]] in suite.values {
                for test in tests { keys.formUnion(test.keys) }
            }
        }
        let used: Set = [
            "description", "bson_type", "test_key", "valid", "decodeErrors", "parseErrors", "bson", "string",
            "canonical_bson", "canonical_extjson", "degenerate_bson", "degenerate_extjson", "relaxed_extjson", "lossy",
        ]
        #expect(keys.subtracting(used) == ["deprecated", "converted_bson", "converted_extjson"])
    }

    @Test(arguments: suites)
    func validDocumentsRoundTrip(_ suite: Suite) throws {
        for test in suite.valid ?? [] {
            let name = Comment(rawValue: test.description)
            let canonical = bytes(test.canonical_bson)
            let document = try BSONDocument(bytes: canonical)
            #expect(normalized(document.extendedJSON(.canonical)) == normalized(test.canonical_extjson), name)
            let pretty = document.extendedJSON(.canonical, pretty: true)
            #expect(normalized(pretty) == normalized(test.canonical_extjson), name)
            if let relaxed = test.relaxed_extjson {
                #expect(normalized(document.extendedJSON(.relaxed)) == normalized(relaxed), name)
                let parsed = try BSONDocument(extendedJSON: relaxed)
                #expect(normalized(parsed.extendedJSON(.relaxed)) == normalized(relaxed), name)
            }
            if test.lossy != true {
                #expect(try BSONDocument(extendedJSON: test.canonical_extjson).bytes == canonical, name)
            }
            if let degenerate = test.degenerate_extjson, test.lossy != true {
                #expect(try BSONDocument(extendedJSON: degenerate).bytes == canonical, name)
            }
            // Values taken out and put back keep every byte.
            let rebuilt = BSONDocument(document.map { ($0.key, $0.value) })
            #expect(rebuilt.bytes == canonical, name)
        }
    }

    @Test(arguments: suites)
    func degenerateBytesReadAsCanonical(_ suite: Suite) throws {
        for test in suite.valid ?? [] {
            guard let degenerate = test.degenerate_bson else { continue }
            // A coefficient of more than 34 digits is zero in the standard. This case of another driver keeps it.
            if test.description == "Scientific - Longest" { continue }
            let document = try BSONDocument(bytes: bytes(degenerate))
            #expect(normalized(document.extendedJSON(.canonical)) == normalized(test.canonical_extjson))
        }
    }

    @Test(arguments: suites)
    func invalidBytesAreRefused(_ suite: Suite) {
        for test in suite.decodeErrors ?? [] {
            #expect(throws: BSONError.self, Comment(rawValue: test.description)) {
                try BSONDocument(bytes: bytes(test.bson ?? ""))
            }
        }
    }

    /// A document to store may have the forms of version 1; all others are read as ever.
    @Test(arguments: suites)
    func version2IsReadTheSameWhereVersion1IsAccepted(_ suite: Suite) throws {
        for test in suite.valid ?? [] {
            let text = Array(test.canonical_extjson.utf8)
            let stored = try text.withUnsafeBytes { try BSONDocument(storedJSON: $0) }
            #expect(try stored == BSONDocument(extendedJSON: text), Comment(rawValue: test.description))
        }
        for test in suite.parseErrors ?? [] where suite.bson_type != "0x13" {
            // The one form of version 1 among them.
            if test.description == "Bad $date (number, not string or hash)" { continue }
            #expect(throws: BSONError.self, Comment(rawValue: test.description)) {
                try Array((test.string ?? "").utf8).withUnsafeBytes { try BSONDocument(storedJSON: $0) }
            }
        }
    }

    @Test(arguments: suites)
    func invalidTextIsRefused(_ suite: Suite) throws {
        for test in suite.parseErrors ?? [] {
            let text = test.string ?? ""
            let name = Comment(rawValue: test.description)
            if suite.bson_type == "0x13" {
                #expect(Decimal128(text) == nil, name)
                let json = try JSONEncoder().encode(["d": ["$numberDecimal": text]])
                #expect(throws: BSONError.self, name) { try BSONDocument(extendedJSON: [UInt8](json)) }
            } else {
                #expect(throws: BSONError.self, name) { try BSONDocument(extendedJSON: text) }
            }
        }
    }
}
