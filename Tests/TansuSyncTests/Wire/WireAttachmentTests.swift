#if TansuSync
import Testing

@testable import TansuSync

@Suite("The wire: attachments in JSON")
struct WireAttachmentTests {
    private func attachments(_ json: String) throws(WireError) -> [WireAttachment] {
        try WireDocument(json: "{\"_attachments\": \(json)}".utf8).attachments
    }

    @Test("Inline data, stubs, and parts that follow")
    func forms() throws {
        let list = try attachments(
            """
            {"a.txt": {"content_type": "text/plain", "data": "aGVsbG8="},
             "b.bin": {"stub": true, "content_type": "x/y", "digest": "md5-wrong", "length": 5, "revpos": 9},
             "c": {"follows": true, "length": 35, "encoding": "gzip", "encoded_length": 29, "content_type": "text/plain"},
             "d": {"data": ""}, "": {"data": "aGk="}, "a/b c": {"data": "aG k=\\n"}, "ignored": 1}
            """)
        #expect(list.map(\.name) == ["a.txt", "b.bin", "c", "d", "", "a/b c"])
        #expect(list[0].content == .inline(Array("hello".utf8)))
        #expect(list[1].content == .stub)
        #expect(list[1].digest == "md5-wrong" && list[1].length == 5 && list[1].revpos == 9)
        #expect(list[2].content == .follows && list[2].followingLength == 29 && list[2].length == 35)
        #expect(list[3].content == .inline([]))
        #expect(list[3].contentType == "application/octet-stream")
        #expect(list[5].content == .inline(Array("hi".utf8)))
        #expect(try attachments("{}").isEmpty)
    }

    @Test(
        "What CouchDB refuses is refused in its words",
        arguments: [
            (#"{"_under": {"data": "aGk="}}"#, "Attachment name '_under' starts with prohibited character '_'"),
            (#"{"x": {"data": 5}}"#, "Invalid attachment data for x"),
            (#"{"zz": {"content_type": "text/plain"}}"#, "Invalid attachment data for zz"),
            (#"{"zz": {"data": "@@@"}}"#, "Invalid attachment data for zz"),
            (#"{"x": {"data": "aGk"}}"#, "Invalid attachment data for x"),
            (#"{"x": {"stub": false, "follows": "true"}}"#, "Invalid attachment data for x"),
        ])
    func refused(json: String, reason: String) throws {
        #expect(throws: WireError(.badRequest, reason)) { try attachments(json) }
    }
}
#endif
