#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

/// Equal edits have one name, and any other edit has another.
@Suite struct RevisionDigestTests {
    private typealias Attachment = RevisionDigest.Attachment

    private func revision(
        _ body: BSONDocument, after parent: Revision? = nil, isDeleted: Bool = false,
        _ attachments: [Attachment] = []
    ) throws -> Revision {
        try RevisionDigest.revision(after: parent, isDeleted: isDeleted, body: body, attachments: attachments)
    }

    /// Recorded: another name would let replicas of two versions of this library diverge.
    @Test func theNamesOfRevisionsStay() throws {
        #expect(try revision([:]).description == "1-43064dd9a70600c3bd6587827a89385c")
        let first = try revision(["name": "Ann", "age": 7, "tags": ["a", nil, true], "size": 1.5])
        #expect(first.description == "1-d4678dd84231b9062736425a50e5e681")
        let removal = try revision([:], after: first, isDeleted: true)
        #expect(removal.description == "2-4cf81d375b056cef329b74030405ffb7")
    }

    @Test func whatJSONDoesNotTellMakesNoOtherName() throws {
        let first = try revision(["a": 1, "b": ["x": 2.0, "y": 0.0], "c": [3, -4]])
        let wider: BSONDocument = ["c": [3.0, .int64(-4)], "b": ["y": -0.0, "x": .int64(2)], "a": .int64(1)]
        #expect(first == (try revision(wider)))
        #expect(first == (try revision(["_id": "a", "_x": 1, "a": 1, "b": ["x": 2, "y": 0], "c": [3, -4]])))
    }

    @Test func everyOtherEditHasAnotherName() throws {
        let parents = [nil, Revision("1-a"), Revision("1-b")]
        let bodies: [BSONDocument] = [
            [:], ["a": 1], ["a": "1"], ["a": true], ["a": nil], ["a": [1]], ["a": [[1]]], ["a": ["0": 1]],
            ["a": [1, 1]], ["a": 1.5], ["a": .double(.infinity)], ["a": .double(.nan)],
            ["a": .decimal128(Decimal128(1))],
            ["a": .date(1)], ["a": .objectID(ObjectID())], ["a": .binary(BSONBinary([1]))], ["a": ["_id": 1]],
            ["a": []], ["a": [:]], ["b": 1], ["a": 1, "b": 1], ["a": "b", "c": ""], ["a": "", "bc": ""],
            ["a": .int64(.max)], ["a": .double(9_223_372_036_854_775_808)], ["a": ["b": 1], "c": 2],
            ["a": ["b": 1, "c": 2]],
        ]
        let attachments: [[Attachment]] = [
            [], [Attachment(name: "n", contentType: "t", digest: "d")],
            [Attachment(name: "nt", contentType: "", digest: "d")],
            [Attachment(name: "n", contentType: "td", digest: "")],
            [
                Attachment(name: "n", contentType: "t", digest: "d"),
                Attachment(name: "o", contentType: "t", digest: "d"),
            ],
        ]
        var revisions: Set<Revision> = []
        for parent in parents {
            for body in bodies {
                for attachments in attachments {
                    for isDeleted in [false, true] {
                        let revision = try revision(body, after: parent, isDeleted: isDeleted, attachments)
                        #expect(revision.generation == (parent?.generation ?? 0) + 1)
                        #expect(revision.hashText.count == 32)
                        revisions.insert(revision)
                    }
                }
            }
        }
        #expect(revisions.count == parents.count * bodies.count * attachments.count * 2)
    }

    @Test func theOrderOfAttachmentsDoesNotMatter() throws {
        let both = ["a", "b"].map { Attachment(name: $0, contentType: "text/plain", digest: "md5-\($0)") }
        #expect(try revision([:], both) == revision([:], both.reversed()))
    }

    @Test func theLastGenerationCannotBeEdited() throws {
        let last = try Revision(generation: Revision.maximumGeneration, hash: "a")
        let error = #expect(throws: RevisionError.self) { try revision([:], after: last) }
        #expect(error?.code == .generationTooLarge)
    }

    @Test func documentsOfEveryDepthHaveAName() throws {
        let deepest = (2...BSONDocument.maximumDepth).reduce(BSONDocument()) { inner, _ in ["a": .document(inner)] }
        #expect(try revision(deepest).generation == 1)
        for tooDeep: BSONDocument in [["a": .document(deepest)], ["a": [.document(deepest)]]] {
            let error = #expect(throws: RevisionError.self) { try revision(tooDeep) }
            #expect(error?.code == .invalidBody)
        }
    }
}
#endif
