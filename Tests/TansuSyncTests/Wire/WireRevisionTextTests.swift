#if TansuSync
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("The wire: revisions as JSON")
struct WireRevisionTextTests {
    private func revision(_ edit: (inout WireRevisionText) -> Void) throws -> WireRevisionText {
        var text = WireRevisionText(id: "a\"b", revision: try #require(Revision("3-cc")), fields: ["v": 1])
        edit(&text)
        return text
    }

    private func text(_ edit: (inout WireRevisionText) -> Void) throws -> String {
        String(decoding: try revision(edit).json(), as: UTF8.self)
    }

    @Test("The members are in CouchDB's order")
    func order() throws {
        let revision = try #require(Revision("3-dd"))
        let whole = try text {
            $0.isDeleted = true
            $0.path = try? RevisionPath(start: 3, ids: ["cc", "bb", "aa"])
            $0.history = [(revision, "available"), (revision, "missing")]
            $0.localSequence = 5
            $0.conflicts = [revision, revision]
            $0.deletedConflicts = [revision]
        }
        #expect(
            whole == #"{"_id":"a\"b","_rev":"3-cc","v":1,"_deleted":true,"#
                + #""_revisions":{"start":3,"ids":["cc","bb","aa"]},"#
                + #""_revs_info":[{"rev":"3-dd","status":"available"},{"rev":"3-dd","status":"missing"}],"#
                + #""_local_seq":5,"_conflicts":["3-dd","3-dd"],"_deleted_conflicts":["3-dd"]}"#)
        #expect(try text { $0.fields = [:] } == #"{"_id":"a\"b","_rev":"3-cc"}"#)
        #expect(
            WireRevisionText(localID: "_local/x", revision: 4, fields: ["a": true]).json()
                == Array(#"{"_id":"_local/x","_rev":"0-4","a":true}"#.utf8))
    }

    @Test("Attachments, as CouchDB writes them")
    func attachments() throws {
        let file = AttachmentFile(
            name: "one.txt", contentType: "text/plain", digest: "md5-e8PonaGug2+bvUVQJoN+rw==", length: 5,
            revpos: 1,
            encoding: "gzip", encodedLength: 25, blob: BlobID(bytes: []))
        func attachments(_ content: WireRevisionText.Attachment.Content, encoding: Bool = false) throws -> String {
            let whole = try text {
                $0.attachments = [.init(file, content)]
                $0.showsEncoding = encoding
            }
            return String(
                whole.dropFirst(#"{"_id":"a\"b","_rev":"3-cc","v":1,"_attachments":{"one.txt":"#.utf8.count))
        }
        let start = #"{"content_type":"text/plain","revpos":1,"digest":"md5-e8PonaGug2+bvUVQJoN+rw==","#
        #expect(try attachments(.stub) == start + #""length":5,"stub":true}}}"#)
        #expect(
            try attachments(.stub, encoding: true)
                == start + #""length":5,"stub":true,"encoding":"gzip","encoded_length":25}}}"#)
        #expect(
            try attachments(.follows)
                == start + #""length":5,"follows":true,"encoding":"gzip","encoded_length":25}}}"#)
        var writer = WireJSONWriter()
        try revision { $0.attachments = [.init(file, .inline), .init(file, .inline)] }.write(to: &writer)
        let holes = writer.holes
        var bytes = writer.finish()
        for hole in holes.reversed() { bytes.insert(contentsOf: "Zmlyc3Q=".utf8, at: hole) }
        let data = start + #""data":"Zmlyc3Q="}"#
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(#"{"one.txt":\#(data),"one.txt":\#(data)}}"#))
        #expect(try attachments(.inline) == start + #""data":""}}}"#)
    }

    @Test("What is written is read again")
    func roundTrip() throws {
        let path = try RevisionPath(start: 2, ids: ["bb", "aa"])
        let whole = try text {
            $0.path = path
            $0.isDeleted = true
            $0.conflicts = [path.revision]
        }
        let document = try WireDocument(json: whole.utf8)
        #expect(document.id == "a\"b" && document.path == path && document.isDeleted)
        #expect(document.fields == ["v": 1])
    }
}
#endif
