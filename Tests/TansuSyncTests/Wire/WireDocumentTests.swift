#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

@Suite("The wire: documents from JSON")
struct WireDocumentTests {
    private func document(_ json: String) throws -> WireDocument { try WireDocument(json: json.utf8) }

    private func error(_ json: String) -> String? {
        do throws(WireError) {
            _ = try WireDocument(json: json.utf8)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Members that begin with _ are read, the others are the fields")
    func members() throws {
        let document = try document(
            #"{"a": 1, "_id": "x", "_rev": "2-bb", "b": {"_c": 2}, "_deleted": true, "_local_seq": 5}"#)
        #expect(document.id == "x")
        #expect(document.revision == .revision(try #require(Revision("2-bb"))))
        #expect(document.path == nil)
        #expect(document.isDeleted)
        #expect(document.fields == ["a": 1, "b": ["_c": 2]])
        let empty = try self.document("{}")
        #expect(empty.id == nil && empty.revision == nil && !empty.isDeleted && empty.fields == [:])
    }

    /// Requests and answers of the recorded scenarios document, bulk_docs and input.
    @Test(
        "What CouchDB refuses is refused in its words",
        arguments: [
            (#"{"_id": 5}"#, "illegal_docid: Document id must be a string"),
            (#"{"_id": null}"#, "illegal_docid: Document id must be a string"),
            (#"{"_id": ""}"#, "illegal_docid: Document id must not be empty"),
            (#"{"_id": "_bad"}"#, "illegal_docid: Only reserved document ids may start with underscore."),
            (#"{"_id": "_design/"}"#, "illegal_docid: Illegal document id `_design/`"),
            (#"{"_id": "_local/"}"#, "illegal_docid: Illegal document id `_local/`"),
            (#"{"_rev": "bad"}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": 12}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": ""}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": null}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": "-1"}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": "-1-a"}"#, "bad_request: Invalid rev format"),
            (#"{"_rev": "1-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"}"#, "bad_request: Invalid rev format"),
            (#"{"_foo": 1}"#, "doc_validation: Bad special document member: _foo"),
            (#"{"_": 1}"#, "doc_validation: Bad special document member: _"),
            (#"{"_attachments": 1}"#, "doc_validation: Bad special document member: _attachments"),
            (#"{"_deleted": "yes"}"#, "doc_validation: Bad special document member: _deleted"),
            (#"{"_revisions": 1}"#, "doc_validation: Bad special document member: _revisions"),
            (#"{"_revisions": {"ids": ["dd"]}}"#, "doc_validation: _revisions.start isn't an integer."),
            (#"{"_revisions": {"start": 1}}"#, "doc_validation: _revisions.ids isn't a array."),
            (#"{"_revisions": {"start": 1, "ids": [5]}}"#, "doc_validation: RevId isn't a string"),
            (
                #"{"_revisions": {"start": 1, "ids": ["zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"]}}"#,
                "doc_validation: RevId isn't a valid hexadecimal"
            ),
            ("[{}]", "bad_request: Document must be a JSON object"),
            ("true", "bad_request: Document must be a JSON object"),
            ("5", "bad_request: Document must be a JSON object"),
            (#"{"$oid": "507f1f77bcf86cd799439011"}}"#, "bad_request: invalid UTF-8 JSON"),
            ("", "bad_request: invalid UTF-8 JSON"), ("   ", "bad_request: invalid UTF-8 JSON"),
            (#"{"a":1"#, "bad_request: invalid UTF-8 JSON"), (#"{"a":01}"#, "bad_request: invalid UTF-8 JSON"),
            (#"{"a":.5}"#, "bad_request: invalid UTF-8 JSON"), (#"{"a":1.}"#, "bad_request: invalid UTF-8 JSON"),
            (#"{"a":NaN}"#, "bad_request: invalid UTF-8 JSON"), (#"{'a':1}"#, "bad_request: invalid UTF-8 JSON"),
            (#"{"a":1,}"#, "bad_request: invalid UTF-8 JSON"), (#"{"a":"\x"}"#, "bad_request: invalid UTF-8 JSON"),
            (#"{"a":"\ud800"}"#, "bad_request: invalid UTF-8 JSON"),
            ("{\"a\":\"tab\there\"}", "bad_request: invalid UTF-8 JSON"),
            ("\u{FEFF}{}", "bad_request: invalid UTF-8 JSON"), (#"{"a":1e400}"#, "bad_request: invalid UTF-8 JSON"),
        ])
    func refused(json: String, words: String) {
        #expect(error(json) == words)
    }

    @Test("What CouchDB takes is taken")
    func accepted() throws {
        for name in ["_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq", "_access"] {
            #expect(try document("{\"\(name)\": 1, \"a\": 2}").fields == ["a": 2], "\(name)")
        }
        for id in ["_design/x", "_local/x", " ", "a/b", "\u{0}nul", "ü", "😀", String(repeating: "k", count: 9000)] {
            let json = WireRevisionText(
                id: id, revision: try #require(Revision("1-a")), fields: [:]
            ).json()
            #expect(try WireDocument(json: json).id == id)
        }
        #expect(try document(#"{"_deleted": false}"#).isDeleted == false)
        // A checkpoint as CouchDB writes it the second time.
        let checkpoint = try document(#"{"_rev": "0-7", "_revisions": {"start": 0, "ids": ["1", "0"]}, "a": 2}"#)
        #expect(checkpoint.revision == .unknown("0-1") && checkpoint.path == nil && checkpoint.fields == ["a": 2])
        #expect(
            try document(#"{"_revisions": {"start": 0, "ids": []}, "_rev": "0-7"}"#).revision == .unknown("0-7"))
        #expect(
            error(#"{"_revisions": {"start": 0, "ids": ["1", 2]}}"#) == "doc_validation: RevId isn't a string")
        let kept = try document(#"{"a": 1, "_replication_id": "x", "_access": ["y"]}"#)
        #expect(kept.fields == ["a": 1, "_replication_id": "x"])
        #expect(kept.localFields == ["_access": ["y"], "a": 1, "_replication_id": "x"])
    }

    @Test("Revisions that no document can have are known by their text")
    func unknownRevisions() throws {
        for text in ["0-", "0-abc", "99999999999999999999-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "1-a b"] {
            let document = try document("{\"_rev\": \"\(text)\"}")
            #expect(document.revision == .unknown(BytewiseText(text)))
            #expect(document.revision?.revision == nil)
        }
        #expect(try document(#"{"_rev": "1-abc-d"}"#).revision?.text == "1-abc-d")
        #expect(try document(#"{"_rev": "1-AB"}"#).revision?.text == "1-AB")
        #expect(try document(#"{"_rev": "1-"}"#).revision?.revision?.description == "1-")
    }

    @Test("_revisions counts for more than _rev, in whatever order")
    func paths() throws {
        let path = #""_revisions": {"start": 3, "ids": ["cc", "bb", "aa"]}"#
        for json in ["{\(path)}", "{\(path), \"_rev\": \"1-zz\"}", "{\"_rev\": \"1-zz\", \(path)}"] {
            let document = try document(json)
            #expect(document.path?.ids == ["cc", "bb", "aa"])
            #expect(document.revision?.text == "3-cc")
        }
        let empty = try document(#"{"_rev": "2-dd", "_revisions": {"start": 2, "ids": []}}"#)
        #expect(empty.path == nil && empty.revision?.text == "2-dd")
        #expect(error(#"{"_revisions": {"start": 1, "ids": ["bb", "aa"]}}"#)?.hasPrefix("doc_validation: ") == true)
        // Those of a local document begin at 0: of another one no document has it.
        let local = try document(#"{"_revisions": {"start": 0, "ids": ["bb"]}}"#)
        #expect(local.path == nil && local.revision == .unknown("0-bb"))
    }

    @Test("Equal keys: the last one wins")
    func equalKeys() throws {
        #expect(try document(#"{"a":1,"a":2}"#).fields == ["a": 2])
        #expect(try document(#"{"_id":"x","_id":"y"}"#).id == "y")
    }

    @Test("A million nested arrays are refused, and so is what BSON cannot hold")
    func bombs() throws {
        let bomb = "{\"a\":" + String(repeating: "[", count: 1_000_000)
        #expect(error(bomb)?.contains("nested deeper") == true)
        let objects = String(repeating: "{\"a\":", count: 1_000_000)
        #expect(error(objects)?.contains("nested deeper") == true)
        #expect(error("{\"a\\u0000b\": 1}")?.contains("NUL") == true)
        #expect(throws: WireError.self) { try WireDocument(json: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]) }
        #expect(throws: WireError.self) {
            try WireDocument(json: Array("{\"a\":\"".utf8) + [0xED, 0xA0, 0x80, 0x22, 0x7D])
        }
    }

    @Test("Batches")
    func batches() throws {
        func words(_ json: String) -> String? {
            do throws(WireError) {
                _ = try WireBatch(json: json.utf8)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(words("[]") == "bad_request: Request body must be a JSON object")
        #expect(words("{bad") == "bad_request: invalid UTF-8 JSON")
        #expect(words("{}") == "bad_request: POST body must include `docs` parameter.")
        #expect(words(#"{"docs": "x"}"#) == "bad_request: `docs` parameter must be an array.")
        #expect(words(#"{"docs": [null]}"#) == "bad_request: Document must be a JSON object")
        #expect(words(#"{"docs": [{"_id": "ok"}, {"_id": "_bad"}]}"#)?.hasPrefix("illegal_docid") == true)
        #expect(words(#"{"docs": [], "new_edits": "no"}"#)?.hasPrefix("bad_request") == true)
        let batch = try WireBatch(
            json: #"{"new_edits": false, "docs": [{"_id": "a", "v": 1}, {"$oid": "507f1f77bcf86cd799439011"}]}"#
                .utf8)
        #expect(batch.newEdits == false)
        #expect(batch.documents.map(\.id) == ["a", nil])
        // A document is never a value of another type.
        #expect(batch.documents[1].fields == ["$oid": "507f1f77bcf86cd799439011"])
        #expect(try WireBatch(json: #"{"docs": []}"#.utf8).newEdits == nil)
    }
}
#endif
