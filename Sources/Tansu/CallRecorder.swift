import CoreMetrics
import Foundation
import Logging

/// The calls of the engine that are measured.
enum CallKind: String, Sendable, CaseIterable {
    case find
    case get
    case count
    case distinct
    case aggregate
    case save
    case update
    case findAndModify
    case remove
    case commit
}

/// Records calls in the logger and the metrics that a database was opened with.
///
/// `@unchecked Sendable`: what changes is touched under the lock only.
final class CallRecorder: @unchecked Sendable {
    private let logger: Logger?
    private let slowTime: Duration
    private let logsValues: Bool
    private let timers: [CallKind: CoreMetrics.Timer]
    private let failures: [CallKind: CoreMetrics.Counter]
    private let queue = WorkQueue("tansu explain", width: 1)
    private let lock = NSLock()
    private var isExplaining = false

    /// `nil` without a logger and metrics: then nothing is measured.
    init?(_ options: Database.Options) {
        guard options.logger != nil || options.metrics != nil else { return nil }
        logger = options.logger
        slowTime = options.slowCallTime
        logsValues = options.logsQueryValues
        var timers: [CallKind: CoreMetrics.Timer] = [:]
        var failures: [CallKind: CoreMetrics.Counter] = [:]
        if let factory = options.metrics {
            for kind in CallKind.allCases {
                let dimensions = [("call", kind.rawValue)]
                timers[kind] = CoreMetrics.Timer(
                    label: "tansu.call.duration", dimensions: dimensions, factory: factory)
                failures[kind] = CoreMetrics.Counter(
                    label: "tansu.call.failures", dimensions: dimensions, factory: factory)
            }
        }
        (self.timers, self.failures) = (timers, failures)
    }

    /// Records a call that has ended.
    ///
    /// - Parameter explain: Explains a query in a collection with hints; it runs later, on a thread of its own.
    func record(
        _ call: MeasuredCall, _ duration: Duration, failed: Bool,
        explain:
            @escaping @Sendable (_ query: BSONDocument, _ hints: BSONDocument, _ collection: String) -> BSONDocument?
    ) {
        // Calls on the library's own collections are not recorded.
        guard !call.collection.hasPrefix("tansu.") else { return }
        timers[call.kind]?.recordNanoseconds(duration.wholeNanoseconds)
        if failed { failures[call.kind]?.increment() }
        guard let logger, duration >= slowTime else { return }
        var metadata: Logger.Metadata = [
            "milliseconds": "\(Double(duration.wholeNanoseconds / 1000) / 1000)"
        ]
        if !call.collection.isEmpty { metadata["collection"] = "\(call.collection)" }
        if let query = call.text(withValues: logsValues) { metadata["query"] = "\(query)" }
        if let order = call.hints["$orderby"] { metadata["orderby"] = "\(order)" }
        let (message, details): (Logger.Message, Logger.Metadata) = ("slow \(call.kind.rawValue)", metadata)
        guard let query = call.query, beginExplaining() else {
            logger.warning(message, metadata: details)
            return
        }
        // Explaining runs the query again, on another thread and one query at a time.
        let job = { @Sendable [weak self] in
            var (query, hints) = (query, call.hints)
            // Those of a write, or of a call that asks for something else than documents.
            for key in ["$upsert", "$dropall"] { query[key] = nil }
            for key in ["$upsert", "$arrayFilters", "$onlycount", "$explain"] { hints[key] = nil }
            let explained = explain(query, hints, call.collection).map { Self.metadata($0, of: call) } ?? [:]
            logger.warning(message, metadata: details.merging(explained) { own, _ in own })
            self?.endExplaining()
        }
        do {
            try queue.submit(job)
        } catch {
            logger.warning(message, metadata: details)
            endExplaining()
        }
    }

    /// Ends its thread when that has nothing to do.
    func stop() {
        queue.stop()
    }

    /// Logs an event.
    func log(_ message: Logger.Message, _ metadata: Logger.Metadata) {
        logger?.info(message, metadata: metadata)
    }

    private func beginExplaining() -> Bool {
        lock.withLock {
            defer { isExplaining = true }
            return !isExplaining
        }
    }

    private func endExplaining() {
        lock.withLock { isExplaining = false }
    }

    private static func metadata(_ explained: BSONDocument, of call: MeasuredCall) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let plan = explained["plan"]?.documentValue {
            metadata["plan"] = "\(plan["kind"]?.stringValue ?? "?")"
            if let index = plan["index"]?.stringValue { metadata["index"] = "\(index)" }
            if plan["sort"] == "memory" { metadata["sort"] = "memory" }
        }
        for name in ["keysExamined", "documentsExamined", "returned"] {
            if let number = explained[name]?.intValue { metadata[name] = "\(number)" }
        }
        let lines = call.collectionType?.indexLines(explained, in: call.collection) ?? []
        if !lines.isEmpty { metadata["suggestion"] = "\(lines.joined(separator: "; "))" }
        return metadata
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to 64 bits.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : nanoseconds + attoseconds / 1_000_000_000
    }
}

/// A call that was measured, and the query that it was about.
struct MeasuredCall: Sendable {
    let kind: CallKind
    var collection = ""
    var query: BSONDocument?
    var hints: BSONDocument = [:]
    /// The type of the collection; `nil` when it is not known.
    var collectionType: (any IndexSuggesting.Type)?

    /// The query for the log. Its values must not appear there unless the options say so: `{"age": {"$gt": "?"}}`.
    func text(withValues: Bool) -> String? {
        query.map { (withValues ? $0 : $0.withoutValues).extendedJSON(.relaxed) }
    }
}

extension BSONDocument {
    fileprivate var withoutValues: BSONDocument {
        BSONDocument(map { ($0.key, $0.value.withoutValues) })
    }
}

extension BSONValue {
    fileprivate var withoutValues: BSONValue {
        switch self {
        case .document(let document): .document(document.withoutValues)
        case .array(let array):
            // Conditions are logged one by one, values only as a placeholder.
            array.contains { $0.documentValue != nil }
                ? .array(BSONArray(array.prefix(8).map(\.withoutValues))) : ["?"]
        default: "?"
        }
    }
}

/// Adds up the durations of a cursor's steps, for one record of the whole query.
///
/// `@unchecked Sendable`: everything that changes is touched under the lock only.
final class CursorTimer: @unchecked Sendable {
    private let call: MeasuredCall
    private let lock = NSLock()
    private var duration = Duration.zero
    private var failed = false
    private var hasEnded = false

    init(_ call: MeasuredCall) {
        self.call = call
    }

    func add(since start: ContinuousClock.Instant?, failed: Bool) {
        guard let start else { return }
        lock.withLock {
            duration += ContinuousClock.now - start
            self.failed = self.failed || failed
        }
    }

    /// Records nothing.
    func discard() {
        lock.withLock { hasEnded = true }
    }

    /// Records the sum, once.
    func end(_ record: (MeasuredCall, Duration, _ failed: Bool) -> Void) {
        let sum: (Duration, Bool)? = lock.withLock {
            if hasEnded { return nil }
            hasEnded = true
            return (duration, failed)
        }
        if let sum { record(call, sum.0, sum.1) }
    }
}

/// A type of collections that can say how the indexes are created that a query lacked. The collections, which are above the
/// engine's calls, conform to it.
protocol IndexSuggesting: Sendable {
    /// A line of Swift for each of the indexes that an explanation suggests.
    ///
    /// - Parameters:
    ///   - explained: The engine's explanation.
    ///   - collection: The name of the query's collection.
    static func indexLines(_ explained: BSONDocument, in collection: String) -> [String]
}
