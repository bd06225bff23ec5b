#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Multipart bodies")
struct MultipartTests {
    private let related = MediaType("multipart/related; boundary=\"BND\"")

    private func parts(
        _ text: String, _ edit: (inout MultipartParser.Limits) -> Void = { _ in }
    ) throws(MultipartError) -> [Part] {
        var limits = MultipartParser.Limits()
        edit(&limits)
        var result: [Part]?
        // Chunks of every size give the same.
        for size in [1, 2, 3, 7, 1000] {
            let parts = try MultipartBodies.read(Array(text.utf8), related, limits: limits) { size }
            #expect(result == nil || result == parts)
            result = parts
        }
        return result ?? []
    }

    private func code(
        _ text: String, _ edit: (inout MultipartParser.Limits) -> Void = { _ in }
    ) -> MultipartError.Code? {
        do throws(MultipartError) {
            _ = try parts(text, edit)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Parts with and without headers, and what stands around them")
    func forms() throws {
        #expect(
            try parts("--BND\r\nContent-Type: application/json\r\n\r\n{}\r\n--BND\r\n\r\nfirst\r\n--BND--") == [
                Part(headers: ["Content-Type: application/json"], body: Array("{}".utf8)),
                Part(headers: [], body: Array("first".utf8)),
            ])
        let preamble =
            "This is a multipart body.\r\n--BN\r\n--BNDX\r\n\r\n--BND \t\r\nA:b\r\n\r\n\r\n\r\n--BND--\r\nepilogue --BND"
        #expect(try parts(preamble) == [Part(headers: ["A: b"], body: Array("\r\n".utf8))])
        // A head may end at the next boundary.
        #expect(try parts("--BND\r\nA: b\r\n\r\n--BND--") == [Part(headers: ["A: b"])])
        #expect(try parts("--BND\r\n\r\n--BND\r\n\r\n\r\n--BND--") == [Part(headers: []), Part(headers: [])])
        #expect(try parts("--BND--").isEmpty)
    }

    @Test("What is malformed gives an error")
    func errors() throws {
        #expect(code("") == .missingStart)
        #expect(code("no boundary") == .missingStart)
        #expect(code("--OTHER\r\n\r\nx\r\n--OTHER--") == .missingStart)
        for text in [
            "--BND\r\n", "--BND\r\n\r\nx", "--BND\r\n\r\nx\r\n--BND", "--BND\r\n\r\nx\r\n--BND-", "--BND\r\nA",
        ] {
            #expect(code(text) == .missingEnd, "\(text)")
        }
        // CouchDB writes names as they are: what a line break makes of one is left out.
        for line in ["no colon", ": x", "A B: x", " folded: x", "\u{FC}: x"] {
            #expect(try parts("--BND\r\n\(line)\r\nA: b\r\n\r\nx\r\n--BND--").first?.headers == ["A: b"], "\(line)")
        }
        for length in ["4", "6", "0"] {
            #expect(code("--BND\r\nContent-Length: \(length)\r\n\r\nfirst\r\n--BND--") == .wrongLength)
        }
        for length in ["-1", "+5", "x", "", "99999999999999999999"] {
            #expect(code("--BND\r\nContent-Length: \(length)\r\n\r\nfirst\r\n--BND--") == .invalidHeader)
        }
        #expect(code("--BND\r\nContent-Type: multipart/mixed\r\n\r\nx\r\n--BND--") == .invalidBoundary)
        for type in [
            "text/plain; boundary=x", "multipart/mixed", "multipart/mixed; boundary=\"\"",
            "multipart/mixed; boundary=\"a\r\n\"", "multipart/mixed; boundary=" + String(repeating: "x", count: 71),
        ] {
            #expect(throws: MultipartError.self, "\(type)") { try MultipartParser(MediaType(type)) }
        }
    }

    @Test("Heads, headers, parts and nesting are bounded, and nothing is held back without end")
    func limits() throws {
        let head = "--BND\r\nA: \(String(repeating: "x", count: 100))"
        #expect(code(head) { $0.headBytes = 50 } == .headTooLarge)
        #expect(code("--BND\r\nA: b\r\nC: d\r\n\r\n\r\n--BND--") { $0.headers = 1 } == .headTooLarge)
        #expect(code("--BND\r\n\r\nx\r\n--BND\r\n\r\nx\r\n--BND--") { $0.parts = 1 } == .tooManyParts)
        #expect(code("--BND\r\n\r\n12345\r\n--BND--") { $0.partBytes = 4 } == .partTooLarge)
        #expect(code("--BND\r\n\r\n12345\r\n--BND--") { $0.partBytes = 5 } == nil)
        let nested =
            "--BND\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b--\r\n--a--\r\n--BND--"
        #expect(code(nested) == .tooDeep)
        #expect(try MultipartBodies.read(Array(nested.utf8), related, nesting: 3) { 5 }.count == 1)
        // Spaces after a boundary: as many as nobody sends are content.
        let spaces = String(repeating: " ", count: 100_000)
        #expect(try parts("--BND\r\n\r\nx\r\n--BND\(spaces)\r\n--BND--")[0].body.count == spaces.utf8.count + 8)
    }

    @Test("Media types and their parameters")
    func mediaTypes() {
        let type = MediaType(" Multipart/Mixed ; x; A=b ;boundary=\"a \\\"b\"; boundary=second")
        #expect(type.name == "multipart/mixed" && type.isMultipart)
        #expect(type["boundary"] == "a \"b" && type["a"] == "b" && type["x"] == nil)
        #expect(MediaType("").name == "" && !MediaType("text/plain").isMultipart)
        #expect(MediaType("attachment; filename=\"é;\"")["filename"] == "é;")
        #expect(MediaType("multipart/related; boundary=--45\"")["boundary"] == "--45\"")
    }

    @Test("Bodies that CouchDB sent are read, and written byte by byte")
    func recorded() throws {
        let bodies = try #require(try Vectors.document("multipart.json")["bodies"]).elements
        #expect(bodies.count == 5)
        for body in bodies.compactMap(\.documentValue) {
            let raw = try #require(Data(base64Encoded: body["raw"]?.stringValue ?? ""))
            let bytes = [UInt8](raw)
            var type = try #require(body["type"]?.stringValue)
            // The recording replaced the random boundary, which the body begins with.
            let line = bytes.dropFirst(2).prefix { $0 != 0x0D }
            type = type.replacing("<<any>>", with: String(decoding: line, as: UTF8.self))
            let parts = try MultipartBodies.read(bytes, MediaType(type)) { 11 }
            #expect(parts.map { summary($0) } == body["parts"]?.elements.map { recordedSummary($0) })
            let boundary = try #require(MediaType(type)["boundary"])
            if !boundary.hasPrefix("--") { #expect(written(parts, boundary) == bytes) }
        }
    }

    private func written(_ parts: [Part], _ boundary: String) -> [UInt8] {
        var writer = MultipartWriter(boundary: boundary)
        var bytes: [UInt8] = []
        for part in parts {
            let headers = part.headers.map { line in
                let pair = line.split(separator: ": ", maxSplits: 1)
                return (name: String(pair[0]), value: String(pair[1]))
            }
            bytes += writer.begin(headers)
            if let inner = part.parts {
                let type = MediaType(headers.first { $0.name == "Content-Type" }?.value ?? "")
                bytes += written(inner, type["boundary"] ?? "")
            } else {
                bytes += part.body
            }
        }
        return bytes + writer.end()
    }

    private func summary(_ part: Part) -> String {
        let parts = part.parts.map { "[" + $0.map(summary).joined(separator: ",") + "]" }
        return parts ?? (isJSON(part) ? "json" : Data(part.body).base64EncodedString())
    }

    private func isJSON(_ part: Part) -> Bool { part.headers.contains("Content-Type: application/json") }

    private func recordedSummary(_ part: BSONValue) -> String {
        let part = part.documentValue ?? [:]
        if let parts = part["multipart"] {
            return "[" + parts.elements.map(recordedSummary).joined(separator: ",") + "]"
        }
        return part["json"] != nil ? "json" : part["b64"]?.stringValue ?? ""
    }

    @Test("The head of an attachment's part, and the length of a body before it is written")
    func attachmentParts() throws {
        let file = AttachmentFile(
            name: "a \"b\".txt", contentType: "text/plain", digest: "", length: 5, revpos: 1,
            encoding: "gzip", encodedLength: 3, blob: BlobID(bytes: []))
        var writer = MultipartWriter(boundary: "b")
        let length = writer.length(json: 2, files: [file])
        let bytes = writer.beginJSON() + Array("{}".utf8) + writer.begin(file) + [1, 2, 3] + writer.end()
        #expect(Int64(bytes.count) == length)
        let parts = try MultipartBodies.read(bytes, MediaType(writer.contentType("related"))) { 4 }
        #expect(parts.count == 2)
        #expect(
            parts[1].headers == [
                "Content-Disposition: attachment; filename=\"a \\\"b\\\".txt\"", "Content-Type: text/plain",
                "Content-Length: 3", "Content-Encoding: gzip",
            ])
        let head = try MultipartHead(
            lines: Array(parts[1].headers.joined(separator: "\r\n").utf8)[...], maximumCount: 9)
        #expect(head.filename == "a \"b\".txt" && head.contentEncoding == "gzip")
        // What no header can have is left out, and what is given as a header stays one.
        let other = AttachmentFile(
            name: "a\r\nb", contentType: "text/plain\r\nX: y", digest: "", length: 5, revpos: 1,
            blob: BlobID(bytes: []))
        var unnamed = MultipartWriter(boundary: "b")
        #expect(String(decoding: unnamed.begin(other), as: UTF8.self) == "--b\r\nContent-Length: 5\r\n\r\n")
        let line = String(decoding: unnamed.begin([("Content-Type", "a\r\nX: y")]), as: UTF8.self)
        #expect(line == "\r\n--b\r\nContent-Type: a  X: y\r\n\r\n")
        #expect(MultipartWriter().boundary.count == 32)
        #expect(MultipartWriter().boundary != MultipartWriter().boundary)
    }
}
#endif
