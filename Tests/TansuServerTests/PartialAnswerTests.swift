#if TansuServer
import Foundation
import Testing

@testable import TansuServer

/// Answers without their bodies, and parts of attachments.
@Suite struct PartialAnswerTests {
    @available(macOS 14, *)
    private func serve(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/d").status == 201)
            let file = try await server.answer(
                "PUT", "/d/x/f", ["Content-Type": "image/png"], body: "0123456789")
            #expect(file.status == 201)
            try await body(server)
        }
    }

    @Test("HEAD says the length that GET has, and none where GET has none") @available(macOS 14, *)
    func heads() async throws {
        try await serve { server in
            for path in [
                "/", "/_all_dbs", "/_up", "/d", "/d/x", "/d/none", "/d/x/f", "/d/_all_docs", "/d/_changes",
                "/d/_local_docs", "/d/_design_docs", "/d/_index", "/d/_security", "/none",
            ] {
                let get = try await server.answer("GET", path)
                let head = try await server.answer("HEAD", path)
                #expect(get.status == head.status && head.body.isEmpty, "\(path)")
                #expect(get[header: "content-length"] == head[header: "content-length"], "\(path)")
                #expect(get[header: "content-type"] == head[header: "content-type"], "\(path)")
                #expect(get[header: "etag"] == head[header: "etag"], "\(path)")
            }
        }
    }

    @Test("Ranges, also of bytes that have changed since the first part") @available(macOS 14, *)
    func ranges() async throws {
        try await serve { server in
            let tag = try #require(try await server.answer("GET", "/d/x/f")[header: "etag"])
            for (range, condition, status, text) in [
                ("bytes=2-4", nil, 206, "234"), ("bytes=7-", nil, 206, "789"), ("bytes=-2", nil, 206, "89"),
                ("bytes=-100", nil, 206, "0123456789"), ("bytes=8-100", nil, 206, "89"),
                ("bytes=10-", nil, 416, nil), ("bytes=abc", nil, 200, "0123456789"),
                ("bytes=2-4", tag, 206, "234"), ("bytes=2-4", "\"other\"", 200, "0123456789"),
                ("bytes=2-4", "W/" + tag, 200, "0123456789"), ("bytes=10-", "\"other\"", 200, "0123456789"),
            ] as [(String, String?, Int, String?)] {
                var headers = ["Range": range]
                headers["If-Range"] = condition
                let answer = try await server.answer("GET", "/d/x/f", headers)
                #expect(answer.status == status, "\(range) \(condition ?? "")")
                if let text { #expect(answer.text == text, "\(range) \(condition ?? "")") }
            }
            let both = try await server.answer("GET", "/d/x/f", ["Range": "bytes=0-1,5-6"])
            let parts = try #require(Part.parts(of: both.body, contentType: both[header: "content-type"] ?? ""))
            #expect(parts.map { String(decoding: $0.body, as: UTF8.self) } == ["01", "56"])
        }
    }

    @Test("No id, name or media type becomes a header") @available(macOS 14, *)
    func injection() async throws {
        try await serve { server in
            let evil = "a%0D%0AX-Evil:%201"
            let put = try await server.answer(
                "PUT", "/d/\(evil)/\(evil)", ["Content-Type": "image/png"], body: "0123456789")
            #expect(put.status == 201)
            let inline = try await server.answer(
                "POST", "/d", ["Content-Type": "application/json"],
                body:
                    #"{"_id":"t","_attachments":{"f":{"content_type":"image/png\r\nX-Evil: 1","data":"MDEyMzQ1Njc4OQ=="}}}"#
            )
            #expect(inline.status == 201)
            let copied = try await server.answer("COPY", "/d/x", ["Destination": "c%0D%0AX-Evil:%201"])
            #expect(copied.status == 201)
            for (path, headers) in [
                ("/d/\(evil)", [:]), ("/d/\(evil)/\(evil)", [:]), ("/d/t/f", [:]),
                ("/d/t/f", ["Range": "bytes=0-1,5-6"]), ("/d/t?attachments=true", [:]),
                ("/d/t?open_revs=all", ["Accept": "multipart/mixed"]), ("/d/\(evil)?attachments=true", [:]),
            ] as [(String, [String: String])] {
                let answer = try await server.answer("GET", path, headers)
                #expect(answer.status == 200 || answer.status == 206)
                #expect(answer[header: "x-evil"] == nil, "\(path)")
                #expect(!answer.text.contains("\r\nX-Evil"), "\(path)")
            }
            for answer in [put, inline, copied] { #expect(answer[header: "x-evil"] == nil) }
        }
    }
}
#endif
