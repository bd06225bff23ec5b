#if TansuSync
import Testing

@testable import TansuSync

@Suite struct RevisionTests {
    private static let digits = "917fa2381192822767f010b95b45325b"

    @Test(arguments: [
        "1-", "1-abc", "3-\(digits)", "9007199254740991-x", "12-a-b", "2-\(String(repeating: "h", count: 255))",
    ])
    func textOfARevisionIsReadAndWritten(_ text: String) throws {
        #expect(try Revision(Substring(text)).description == text)
        #expect(Revision(text)?.description == text)
    }

    @Test(arguments: [
        ("", RevisionError.Code.emptyText), ("abc", .missingDash), ("1", .missingDash), ("-", .missingDash),
        ("-1", .missingDash), ("--", .invalidGeneration), ("a-b", .invalidGeneration),
        ("1.5-b", .invalidGeneration),
        (" 1-b", .invalidGeneration), ("+1-b", .invalidGeneration), ("0x1-b", .invalidGeneration),
        ("١-b", .invalidGeneration), ("--1-b", .invalidGeneration), ("0-abc", .generationTooSmall),
        ("-1-abc", .generationTooSmall), ("-99999999999999999999-abc", .generationTooSmall),
        ("9007199254740992-a", .generationTooLarge), ("9223372036854775807-a", .generationTooLarge),
        ("99999999999999999999-a", .generationTooLarge), ("1-a b", .invalidHash),
        ("1-\"a\"", .invalidHash), ("1-a\\", .invalidHash), ("1-\u{0}", .invalidHash), ("1-é", .invalidHash),
        ("1-\(String(repeating: "g", count: 32))", .invalidHash),
        ("1-+\(String(repeating: "a", count: 31))", .invalidHash),
        ("1-\(String(repeating: "h", count: 256))", .hashTooLong),
    ])
    func textThatIsNoRevisionIsRejectedWithTheReason(_ text: String, _ code: RevisionError.Code) {
        let error = #expect(throws: RevisionError.self) { try Revision(Substring(text)) }
        #expect(error?.code == code)
        #expect(Revision(text) == nil)
    }

    @Test func hexDigitsAreOneHashInEitherCaseAndAsTheirCharacters() throws {
        let upper = try Revision(generation: 1, hash: Self.digits.uppercased())
        #expect(upper == (try Revision(generation: 1, hash: Self.digits)))
        #expect(upper.hashText == Self.digits)
        let characters = try Revision(generation: 1, hash: "abcdefghijklmnop")
        #expect(characters.hashText == "6162636465666768696a6b6c6d6e6f70")
        #expect(characters == (try Revision(generation: 1, hash: "6162636465666768696a6b6c6d6e6f70")))
    }

    /// In CouchDB 32 hex digits are sixteen bytes, so that "8…" (0x88) is above the characters "f…" (0x66).
    @Test func revisionsAreOrderedByGenerationThenByTheBytesOfTheHash() throws {
        let ordered = [
            "1-zzz", "2-\(String(repeating: "0", count: 32))", "2-\(String(repeating: "2", count: 32))", "2-3",
            "2-\(String(repeating: "7", count: 31))", "2-f", "2-ff", "2-\(String(repeating: "f", count: 31))",
            "2-\(String(repeating: "8", count: 32))", "2-\(String(repeating: "f", count: 32))", "10-0",
        ].compactMap { Revision($0) }
        #expect(ordered.count == 11)
        for (position, a) in ordered.enumerated() {
            for (otherPosition, b) in ordered.enumerated() {
                #expect((a < b) == (position < otherPosition), "\(a) \(b)")
            }
        }
    }

    @Test func pathsNameTheirRevisionsNewestFirst() throws {
        let path = try RevisionPath(start: 4, ids: ["d", "c", "b"])
        #expect(path.revisions.map(\.description) == ["4-d", "3-c", "2-b"])
        #expect(path.revision.description == "4-d")
        #expect(path.ids == ["d", "c", "b"])
        #expect(try RevisionPath(start: 2, ids: ["", "b"]).revision.description == "2-")
    }

    @Test(arguments: [
        (0, ["a"]), (1, []), (1, ["b", "a"]), (-3, ["a"]), (.max, ["a"]), (2, ["b", "a b"]),
    ])
    func pathsThatCannotBeAreRejected(_ start: Int, _ ids: [String]) {
        #expect(throws: RevisionError.self) { try RevisionPath(start: start, ids: ids) }
    }
}
#endif
