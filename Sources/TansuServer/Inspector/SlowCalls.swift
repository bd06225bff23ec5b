#if TansuServer
import Foundation
import HummingbirdCore
import Logging
import Tansu
import TansuBSON

/// The last slow calls of a database, for its inspector to list: when, how long, which query by which plan.
///
/// They have the values of the queries, which may be personal. Only who may use the inspector, or administers the server, sees them;
/// logs do not get them.
///
///     let slowCalls = SlowCalls()
///     var options = Database.Options(slowCallTime: .milliseconds(50))
///     slowCalls.record(&options)
///     let database = try Database(path: path, options: options)
///     let inspector = try await Inspector.start(database, slowCalls: slowCalls)
public final class SlowCalls: Sendable {
    private struct State {
        var time: Duration?
        var calls: [BSONDocument] = []
    }

    /// A longer text of a query is cut.
    private static let textMost = 4096

    private let limit: Int
    private let state = Locked(State())

    /// Creates an empty list.
    ///
    /// - Parameter limit: How many calls it keeps.
    public init(limit: Int = 200) { self.limit = max(1, limit) }

    /// Has a database that is opened with these options list its calls that take `slowCallTime` or longer here. A logger of the
    /// options gets them as well, as without this.
    public func record(_ options: inout Database.Options) {
        state.withLock { [time = options.slowCallTime] in $0.time = time }
        options.slowCallList = { kind, end, details in self.add(kind, end, details) }
    }

    private func add(_ kind: String, _ end: Date, _ details: Logger.Metadata) {
        var call: BSONDocument = ["time": .double((end.timeIntervalSince1970 * 1000).rounded()), "kind": .string(kind)]
        for name in ["collection", "query", "pipeline", "orderby", "plan", "index", "sort", "suggestion"] {
            guard let value = details[name] else { continue }
            let text = "\(value)"
            if text.utf8.count > Self.textMost {
                // The index is rounded down to the beginning of a character.
                let end = text.utf8.index(text.startIndex, offsetBy: Self.textMost)
                call[name] = .string(String(text.unicodeScalars[..<end]))
                call["isCut"] = true
            } else {
                call[name] = .string(text)
            }
        }
        call["milliseconds"] = .double(details["milliseconds"].flatMap { Double("\($0)") } ?? 0)
        for name in ["keysExamined", "documentsExamined", "returned"] {
            if let number = details[name].flatMap({ Int("\($0)") }) { call[name] = BSONValue(number) }
        }
        state.withLock { state in
            if state.calls.count == limit { state.calls.removeFirst() }
            state.calls.append(call)
        }
    }

    /// The calls, the last one first, and from which time on a call is one of them.
    fileprivate var document: BSONDocument {
        let state = state.withLock { $0 }
        // One with a plan comes when that is known.
        let calls = state.calls.sorted { ($0["time"]?.doubleValue ?? 0) > ($1["time"]?.doubleValue ?? 0) }
        let milliseconds = state.time.map { BSONValue.double($0 / .milliseconds(1)) } ?? .null
        return [
            "slowCallMS": milliseconds, "limit": BSONValue(limit),
            "calls": .array(BSONArray(calls.map { .document($0) })),
        ]
    }
}

/// `/_slow_calls`: the slow calls of the server's process, for server admins; 404 where none are listed.
enum SlowCallsEndpoint {
    static let route = Route("/_slow_calls", allow: "GET", access: .serverAdmin, [.get: .init(nil, list)])

    @Sendable private static func list(_ request: ServerRequest) async throws -> Response {
        guard let slowCalls = request.server.options.slowCalls else {
            throw HTTPFailure.notFound("Slow calls are not listed: the database was opened without a list of them")
        }
        return .json(.document(slowCalls.document))
    }
}
#endif
