#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Replication: sources that answer what they must not")
struct LyingSourceTests {
    private static func pull(_ source: AnsweringPeer, waits: Locked<[Double]>? = nil) async throws -> (
        ReplicationReport, Database.Collection<BSONDocument>
    ) {
        let near = try Database(.memory).collection("people")
        let local = LocalPeer(try await near.enableReplication())
        let report = try await Replicator(from: try source.peer(waits: waits), to: local, .system).runOnce()
        return (report, near)
    }

    @available(macOS 14, *)
    @Test(
        "A document that cannot be stored stops no other",
        arguments: [
            "\"v\":\(String(repeating: "[", count: 600))\(String(repeating: "]", count: 600))}",
            "\"v\":\(String(repeating: "[", count: 150))\(String(repeating: "]", count: 150))}",
            "\"v\":1e400}", "\"a\\u0000b\":1}", "\"_reserved\":1}", "\"_attachments\":5}",
            "\"v\":\(String(repeating: "[", count: 20_000))\(String(repeating: "]", count: 20_000))}",
        ])
    func unusable(text: String) async throws {
        let (report, near) = try await Self.pull(
            .source([("a", "1-a", "\"n\":1}"), ("bad", "1-b", text), ("z", "1-c", "\"n\":2}")]))
        #expect(try await near.get("a")?["n"] == 1)
        #expect(try await near.get("z")?["n"] == 2)
        #expect(report.documentsWritten == 2 && report.failures.map(\.id) == ["bad"])
        #expect(report.failures.first?.reason.isEmpty == false)
    }

    @available(macOS 14, *)
    @Test("A document that the source lists and does not give is reported")
    func silent() async throws {
        for answer in ["{\"results\":[]}", "{\"results\":[{\"id\":\"a\",\"docs\":[]}]}"] {
            let source = AnsweringPeer.source([("a", "1-a", "\"n\":1}")]) { call in
                call.endpoint == "_bulk_get" ? .init(answer) : nil
            }
            let (report, _) = try await Self.pull(source)
            #expect(report.documentsWritten == 0 && report.failures.map(\.id) == ["a"], "\(answer)")
        }
        // One that was removed since it was listed is no fault.
        let removed = AnsweringPeer.source([("a", "1-a", "\"n\":1}")]) { call in
            let error = "{\"id\":\"a\",\"rev\":\"1-a\",\"error\":\"not_found\",\"reason\":\"missing\"}"
            return call.endpoint == "_bulk_get"
                ? .init("{\"results\":[{\"id\":\"a\",\"docs\":[{\"error\":\(error)}]}]}") : nil
        }
        let (report, _) = try await Self.pull(removed)
        #expect(report.failures.isEmpty)
    }

    @available(macOS 14, *)
    @Test("The same document twice, and others than were asked for")
    func others() async throws {
        let result = "{\"id\":\"a\",\"docs\":[{\"ok\":{\"_id\":\"a\",\"_rev\":\"1-a\",\"n\":1}}]}"
        let twice = AnsweringPeer.source([("a", "1-a", "\"n\":1}")]) { call in
            call.endpoint == "_bulk_get" ? .init("{\"results\":[\(result),\(result)]}") : nil
        }
        let (_, near) = try await Self.pull(twice)
        #expect(try await near.get("a")?["n"] == 1)
        #expect(try await near.conflicts(of: "a").isEmpty)
        let other = AnsweringPeer.source([("b", "1-a", "\"n\":1}")]) { call in
            call.endpoint == "_bulk_get" ? .init("{\"results\":[\(result)]}") : nil
        }
        await #expect(throws: RemoteFailure.self) { _ = try await Self.pull(other) }
    }

    @available(macOS 14, *)
    @Test("Rows of _changes without a sequence and without an end are an error, and are not all held")
    func endless() async throws {
        let rows = (1...30_000).map { "{\"seq\":null,\"id\":\"x\($0)\",\"changes\":[]}" }
        let source = AnsweringPeer { call in
            call.endpoint == "_changes" ? .init("{\"results\":[\(rows.joined(separator: ","))") : nil
        }
        let failure = await #expect(throws: RemoteFailure.self) { _ = try await Self.pull(source) }
        #expect(failure?.isTransient == false, "\(String(describing: failure))")
    }

    @available(macOS 14, *)
    @Test("Duplicate rows, rows without revisions and numbers that are no sequences of anybody")
    func rows() async throws {
        let row = "{\"seq\":3,\"id\":\"a\",\"changes\":[{\"rev\":\"1-a\"},{\"rev\":\"1-a\"},{\"rev\":7},{}]}"
        for last in ["3", "-1", "1.5", "1e300", "\"3\"", "{\"a\":1}", "[]", "true"] {
            let source = AnsweringPeer.source([("a", "1-a", "\"n\":1}")]) { call in
                guard call.endpoint == "_changes" else { return nil }
                return .init("{\"results\":[\(row),\(row)],\"last_seq\":\(last),\"pending\":0}")
            }
            let (report, near) = try await Self.pull(source)
            #expect(report.failures.isEmpty)
            #expect(try await near.get("a") != nil, "\(last)")
        }
    }

    @available(macOS 14, *)
    @Test(
        "A source that answers at once although nothing has changed is asked at growing intervals",
        arguments: [
            "{\"results\":[],\"last_seq\":0}",
            "{\"results\":[{\"seq\":1,\"id\":\"a\",\"changes\":[]}],\"last_seq\":1}",
        ])
    func impatient(answer: String) async throws {
        let polls = Locked(0)
        let waits = Locked<[Double]>([])
        let source = AnsweringPeer { call in
            guard call.url.contains("feed=longpoll") else { return nil }
            let count = polls.withLock { polls in
                polls += 1
                return polls
            }
            if count > 20 { throw CancellationError() }
            return .init(answer)
        }
        let near = try Database(.memory).collection("people")
        let local = LocalPeer(try await near.enableReplication())
        let peer = try source.peer(waits: waits)
        await #expect(throws: CancellationError.self) {
            try await Replicator(from: peer, to: local, .system).runContinuously()
        }
        let seconds = waits.withLock { $0 }
        #expect(seconds.count >= 19 && seconds.reduce(0, +) > 20)
        // A server that ends each poll after a minute is still followed within seconds.
        #expect(seconds.max() ?? 0 <= 10)
    }

    @available(macOS 14, *)
    @Test("Retry-After can be a date, and is never more than five minutes")
    func retryDate() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for (text, range) in [
            // A date in so many seconds from the answer on.
            ("in 200", 1.0...200.0), ("in 100000", 300...300), ("in -100", 0.1...0.3), ("-7", 0.1...0.3),
            ("1e400", 300...300), ("nan", 0.1...0.3), ("soon", 0.1...0.3), ("99999999999", 300...300),
            ("", 0.1...0.3),
        ] as [(String, ClosedRange<Double>)] {
            let isFirst = Locked(true)
            let waits = Locked<[Double]>([])
            let source = AnsweringPeer { call in
                guard
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return nil }
                let delay = text.hasPrefix("in ") ? Double(text.dropFirst(3)) : nil
                let value = delay.map { formatter.string(from: Date(timeIntervalSinceNow: $0)) } ?? text
                return .init("{}", status: 429, headers: [HTTPField("Retry-After", value)])
            }
            _ = try await Self.pull(source, waits: waits)
            let seconds = waits.withLock { $0 }
            #expect(seconds.count == 1 && range.contains(seconds[0]), "\(text): \(seconds)")
        }
    }

    @available(macOS 14, *)
    @Test("A token that cannot be made is asked for again, as a server that does not answer")
    func token() async throws {
        struct Refusal: Error {}
        let asked = Locked(0)
        let credentials = RemoteCredentials.token {
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            guard count > 2 else { throw Refusal() }
            return "abc"
        }
        let near = try Database(.memory).collection("people")
        let local = LocalPeer(try await near.enableReplication())
        let source = AnsweringPeer.source([("a", "1-a", "\"n\":1}")])
        let report = try await Replicator(from: try source.peer(credentials), to: local, .system).runOnce()
        #expect(report.documentsWritten == 1)
        let never = RemoteCredentials.token { throw Refusal() }
        await #expect(throws: RemoteFailure.self) {
            _ = try await Replicator(from: try source.peer(never), to: local, .system).runOnce()
        }
    }
}
#endif
