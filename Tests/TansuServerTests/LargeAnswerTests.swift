#if TansuServer
import Foundation
import TansuBSON
import Testing

@testable import TansuServer

/// Answers whose parts are sent as they are read.
@Suite struct LargeAnswerTests {
    private static let json = ["Content-Type": "application/json"]

    /// Around the pieces in which attachments are stored, and what base64 pads.
    private static let sizes = [0, 1, 2, 3, 4, 262_143, 262_144, 262_145, 524_290]

    private static func bytes(_ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    }

    private static func object(_ answer: HTTPAnswer) throws -> BSONDocument {
        try #require(try BSONValue(plainJSON: answer.text).documentValue)
    }

    /// A document with an attachment of each size, one of text (stored compressed) and one binary.
    private static func fill(_ server: RunningServer) async throws {
        #expect(try await server.answer("PUT", "/db1").status == 201)
        let attachments = sizes.flatMap { size in
            ["text/plain", "image/png"].map { type in
                let data = Data(bytes(size)).base64EncodedString()
                return #""\#(type.prefix(1))\#(size)":{"content_type":"\#(type)","data":"\#(data)"}"#
            }
        }
        let body = #"{"_attachments":{\#(attachments.joined(separator: ","))}}"#
        #expect(try await server.answer("PUT", "/db1/a", json, body: body).status == 201)
        #expect(try await server.answer("PUT", "/db1/b", json, body: #"{"last":true}"#).status == 201)
    }

    private static func check(_ document: BSONValue?) throws {
        let attachments = try #require(document?.documentValue?["_attachments"]?.documentValue)
        #expect(attachments.count == 2 * sizes.count)
        for (name, attachment) in attachments {
            let text = try #require(attachment.documentValue?["data"]?.stringValue)
            let size = try #require(Int(name.dropFirst()))
            #expect(Data(base64Encoded: text) == Data(bytes(size)), "\(name)")
        }
    }

    @Test @available(macOS 14, *) func attachmentsInJSONAreWhole() async throws {
        try await RunningServer.run { server in
            try await Self.fill(server)
            func object(_ method: String, _ path: String, body: String? = nil) async throws -> BSONDocument {
                let answer = try await server.answer(method, path, Self.json, body: body)
                #expect(answer.status == 200)
                if let length = answer[header: "content-length"] { #expect(Int(length) == answer.body.count) }
                return try Self.object(answer)
            }
            let single = try await server.answer("GET", "/db1/a?attachments=true", ["Accept": "application/json"])
            #expect(single[header: "content-length"] == "\(single.body.count)")
            try Self.check(BSONValue(plainJSON: single.text))

            let rows = try await object("GET", "/db1/_all_docs?include_docs=true&attachments=true")["rows"]
            #expect(rows?.arrayValue?.count == 2)
            try Self.check(rows?.arrayValue?.first?.documentValue?["doc"])
            #expect(rows?.arrayValue.map(Array.init)?.last?.documentValue?["doc"]?.documentValue?["last"] == true)

            let changes = try await object("GET", "/db1/_changes?include_docs=true&attachments=true")["results"]
            try Self.check(changes?.arrayValue?.first?.documentValue?["doc"])

            let body = #"{"docs":[{"id":"a"},{"id":"b"}]}"#
            let results = try await object("POST", "/db1/_bulk_get?attachments=true", body: body)["results"]
            let found = results?.arrayValue?.first?.documentValue?["docs"]?.arrayValue?.first?.documentValue
            try Self.check(found?["ok"])

            let leaves = try await server.answer(
                "GET", "/db1/a?open_revs=all&attachments=true", ["Accept": "application/json"])
            let leaf = try BSONValue(plainJSON: leaves.text).arrayValue?.first?.documentValue
            try Self.check(leaf?["ok"])
        }
    }

    /// More than one page of bytes, in lists that also have a limit and rows to skip.
    @Test @available(macOS 14, *) func listsOfLargeDocumentsAreWhole() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/db1").status == 201)
            let padding = String(repeating: "x", count: 700_000)
            for number in 0..<6 {
                let answer = try await server.answer(
                    "PUT", "/db1/\(number)", Self.json, body: #"{"n":\#(number),"pad":"\#(padding)"}"#)
                #expect(answer.status == 201)
            }
            func ids(_ method: String, _ path: String, body: String? = nil, _ list: String) async throws -> [String] {
                let answer = try await server.answer(method, path, Self.json, body: body)
                #expect(answer.status == 200)
                let rows = try Self.object(answer)[list]?.arrayValue ?? []
                return rows.compactMap { row in
                    let row = row.documentValue
                    let document = row?["doc"]?.documentValue ?? row
                    #expect(document?["pad"]?.stringValue == padding)
                    return document?["_id"]?.stringValue
                }
            }
            let all = ["0", "1", "2", "3", "4", "5"]
            #expect(try await ids("GET", "/db1/_all_docs?include_docs=true", "rows") == all)
            #expect(
                try await ids("GET", "/db1/_all_docs?include_docs=true&skip=1&limit=4", "rows")
                    == ["1", "2", "3", "4"])
            #expect(
                try await ids("GET", "/db1/_all_docs?include_docs=true&descending=true&skip=2", "rows")
                    == ["3", "2", "1", "0"])
            #expect(try await ids("GET", "/db1/_changes?include_docs=true", "results") == all)
            #expect(
                try await ids("GET", "/db1/_changes?include_docs=true&descending=true&limit=5", "results")
                    == ["5", "4", "3", "2", "1"])
            for limit in [2, 5, 6, 7] {
                let body = #"{"selector":{"n":{"$gte":0}},"limit":\#(limit)}"#
                #expect(try await ids("POST", "/db1/_find", body: body, "docs") == Array(all.prefix(limit)))
            }
            let skipping = #"{"selector":{"n":{"$gte":0}},"skip":1,"limit":4}"#
            #expect(try await ids("POST", "/db1/_find", body: skipping, "docs") == ["1", "2", "3", "4"])
        }
    }

    @Test(arguments: [Int.max, Int.max - 1, 1 << 40])
    @available(macOS 14, *) func numbersOfRowsMayBeLarge(number: Int) async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/db1").status == 201)
            #expect(try await server.answer("PUT", "/db1/a", Self.json, body: "{}").status == 201)
            for (query, count) in [("skip=\(number)", 0), ("limit=\(number)", 1), ("skip=1&limit=\(number)", 0)] {
                for path in ["/db1/_all_docs", "/db1/_design_docs", "/db1/_local_docs"] {
                    let answer = try await server.answer("GET", "\(path)?\(query)")
                    #expect(answer.status == 200)
                    let rows = try Self.object(answer)["rows"]?.arrayValue
                    #expect(rows?.count == (path == "/db1/_all_docs" ? count : 0))
                }
            }
            let body = #"{"selector":{},"skip":\#(number),"limit":\#(number)}"#
            let found = try await server.answer("POST", "/db1/_find", Self.json, body: body)
            #expect(found.status == 200)
            #expect(try Self.object(found)["docs"]?.arrayValue?.isEmpty == true)
            let changes = try await server.answer("GET", "/db1/_changes?limit=\(number)&seq_interval=\(number)")
            #expect(try Self.object(changes)["results"]?.arrayValue?.count == 1)
        }
    }
}
#endif
