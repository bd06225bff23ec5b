#if TansuSync
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

/// What strangers name is equal if its bytes are: in Swift canonically equivalent texts are.
@Suite("Equality of what strangers name")
struct BytewiseEqualityTests {
    private func expectOwn<Value: Hashable>(
        _ make: (String) -> Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        #expect(make(one) != make(two), sourceLocation: sourceLocation)
        #expect(make(one) == make(one), sourceLocation: sourceLocation)
        #expect(Set([make(one), make(two), make(one)]).count == 2, sourceLocation: sourceLocation)
    }

    private func file(_ name: String, _ type: String) -> AttachmentFile {
        AttachmentFile(
            name: name, contentType: type, digest: "md5-", length: 0, revpos: 1, blob: BlobID(bytes: []))
    }

    @Test("Names, types, ids and paths")
    func bytes() {
        expectOwn { file($0, "text/plain") }
        expectOwn { file("a", $0) }
        expectOwn { Database.Attachment(file($0, "text/plain")) }
        expectOwn { DocumentRevisions(id: $0, revisions: []) }
        expectOwn { MissingRevisions(id: $0, revisions: []) }
        expectOwn { ReplicationReport.Failure(id: $0, revision: nil, reason: "") }
        expectOwn { HTTPField($0, "") }
        expectOwn { HTTPField("", $0) }
        expectOwn { MultipartHead.Header(name: $0, value: "") }
        expectOwn { WireRevision.unknown(BytewiseText($0)) }
        expectOwn { Mango.Sort(fields: [$0], isDescending: false) }
        expectOwn { RevisionDigest.Attachment(name: $0, contentType: "", digest: "") }
        expectOwn { Database.CollectionReference($0, to: "a") }
        expectOwn { Database.CollectionReference("a", to: $0) }
        expectOwn { Database.Timestamps(created: $0, updated: nil) }
        expectOwn { Database.Timestamps(created: nil, updated: $0) }
        expectOwn { Database.IndexKey($0) }
    }
}
#endif
