#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Replication: targets that answer what they must not")
struct LyingTargetTests {
    /// Pushes three documents.
    private static func push(
        _ target: AnsweringPeer, credentials: RemoteCredentials = .none, times: Int = 1
    ) async throws -> ReplicationReport {
        let near = try Database(.memory).collection("people")
        try await near.save(["a", "bad", "z"].map { ["_id": .string($0)] })
        let local = LocalPeer(try await near.enableReplication())
        var report = ReplicationReport()
        for _ in 0..<times {
            report = try await Replicator(from: local, to: try target.peer(credentials), .system).runOnce()
        }
        return report
    }

    @available(macOS 14, *)
    @Test("Documents that _bulk_docs refuses are reported; an error of no document is one of the server")
    func refusals() async throws {
        func target(_ result: String) -> AnsweringPeer {
            AnsweringPeer { $0.endpoint == "_bulk_docs" ? .init("[\(result)]", status: 201) : nil }
        }
        let error = "\"error\":\"forbidden\",\"reason\":\"no\""
        let one = try await Self.push(target("{\"id\":\"bad\",\(error)}"))
        #expect(one.documentsWritten == 2 && one.failures.map(\.reason) == ["forbidden: no"])
        let another = try await Self.push(target("{\"id\":\"bad\",\"rev\":\"9-other\",\(error)}"))
        #expect(another.documentsWritten == 3)
        let unknown = try await Self.push(target("{\"id\":\"nobody\",\(error)}"))
        #expect(unknown.documentsWritten == 3)
        await #expect(throws: RemoteFailure.self) { _ = try await Self.push(target("{\(error)}")) }
    }

    @available(macOS 14, *)
    @Test("_revs_diff with unknown ids and revisions, and without an end of them")
    func differences() async throws {
        for answer in [
            "{\"nobody\":{\"missing\":[\"1-a\"]}}",
            "{\"a\":{\"missing\":[\"9-abc\"],\"possible_ancestors\":[\"1-x\"]}}",
            "{\"a\":{}}", "{\"a\":{\"missing\":[]}}", "{}", "{\"nul\\u0000\":{\"missing\":[\"1-a\"]}}",
        ] {
            let target = AnsweringPeer { $0.endpoint == "_revs_diff" ? .init(answer) : nil }
            let report = try await Self.push(target)
            #expect(report.documentsWritten == 0 && report.failures.isEmpty, "\(answer)")
        }
        for answer in ["[]", "5", "", "{\"a\":{\"missing\":5}}", "{\"a\":{\"missing\":[5]}}", "{\"a\\u0000\":[}"] {
            let target = AnsweringPeer { $0.endpoint == "_revs_diff" ? .init(answer) : nil }
            await #expect(throws: RemoteFailure.self) { _ = try await Self.push(target) }
        }
    }

    @available(macOS 14, *)
    @Test("A checkpoint that is none, or has no sequence of the source: it begins at the first change")
    func checkpoints() async throws {
        let forged = Locked<[UInt8]?>(nil)
        for sequence in ["\"0-x\"", "[0]", "-5", "0.5", "{}", "null"] {
            forged.withLock { $0 = nil }
            let target = AnsweringPeer { call in
                guard call.endpoint.hasPrefix("_local/") else { return nil }
                if case .json(let bytes) = call.body {
                    // What was saved, with another sequence.
                    let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(
                        of: "_seq\":[0-9]+", with: "_seq\":\(sequence)", options: .regularExpression)
                    forged.withLock { $0 = Array(text.utf8) }
                    return nil
                }
                return forged.withLock { $0 }.map { .init(bytes: $0) }
            }
            let report = try await Self.push(target, times: 2)
            #expect(report.missingChecked == 3 && report.failures.isEmpty, "\(sequence)")
        }
        for text in [
            "[]", "5", "{}", "{\"session_id\":1}", "{\"history\":5,\"session_id\":\"a\",\"source_last_seq\":1}",
        ] {
            let target = AnsweringPeer { call in
                call.method == "GET" && call.endpoint.hasPrefix("_local/") ? .init(text) : nil
            }
            #expect(try await Self.push(target).documentsWritten == 3, "\(text)")
        }
    }

    @available(macOS 14, *)
    @Test("Credentials that no header can have are an error, and nothing is sent")
    func lineBreaks() async throws {
        for credentials in [
            RemoteCredentials.token("abc\n"), .headers(["X": "a\r\nY: b"]), .headers(["": "a"]),
            .headers(["X Y": "a"]),
            .headers(["ü": "a"]),
        ] {
            let target = AnsweringPeer { _ in nil }
            let error = await #expect(throws: SyncError.self) {
                _ = try await Self.push(target, credentials: credentials)
            }
            #expect(error?.code == .invalidOptions && error?.description.contains("abc") == false)
            #expect(target.requests.withLock { $0.isEmpty })
        }
    }
}
#endif
