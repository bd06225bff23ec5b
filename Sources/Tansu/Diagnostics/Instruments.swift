import CoreMetrics
import Foundation
import Logging

/// Measures calls, for the logger and the metrics that a database was opened with.
///
/// `@unchecked Sendable`: what changes is touched under the lock only.
final class Instruments: @unchecked Sendable {
    private let logger: Logger?
    private let slowTime: Duration
    private let timers: [EngineCallKind: CoreMetrics.Timer]
    private let failures: [EngineCallKind: CoreMetrics.Counter]
    private let lane = WorkLane("tansu explain", width: 1)
    private let lock = NSLock()
    private var isExplaining = false

    /// `nil` when nobody wants to know: then nothing is measured.
    init?(_ options: Database.Options) {
        guard options.logger != nil || options.metrics != nil else { return nil }
        logger = options.logger
        slowTime = options.slowCallTime
        var timers: [EngineCallKind: CoreMetrics.Timer] = [:]
        var failures: [EngineCallKind: CoreMetrics.Counter] = [:]
        if let factory = options.metrics {
            for kind in EngineCallKind.allCases {
                let dimensions = [("call", kind.rawValue)]
                timers[kind] = CoreMetrics.Timer(
                    label: "tansu.call.duration", dimensions: dimensions, factory: factory)
                failures[kind] = CoreMetrics.Counter(
                    label: "tansu.call.failures", dimensions: dimensions, factory: factory)
            }
        }
        (self.timers, self.failures) = (timers, failures)
    }

    /// Notes a call that has ended.
    func note(_ call: MeasuredCall, _ duration: Duration, failed: Bool, on engine: EngineDatabase) {
        // The library's own book-keeping is nothing that its users asked for.
        guard !call.collection.hasPrefix("tansu.") else { return }
        timers[call.kind]?.recordNanoseconds(duration.wholeNanoseconds)
        if failed { failures[call.kind]?.increment() }
        guard let logger, duration >= slowTime else { return }
        var metadata: Logger.Metadata = [
            "milliseconds": "\(Double(duration.wholeNanoseconds / 1000) / 1000)"
        ]
        if !call.collection.isEmpty { metadata["collection"] = "\(call.collection)" }
        if let shape = call.shape { metadata["query"] = "\(shape)" }
        if let order = call.hints["$orderby"] { metadata["orderby"] = "\(order)" }
        let (message, details): (Logger.Message, Logger.Metadata) = ("slow \(call.kind.rawValue)", metadata)
        guard let query = call.query, beginExplaining() else {
            logger.warning(message, metadata: details)
            return
        }
        // Explaining runs the query once more: not on the caller's time, and not twice at once.
        lane.submit { [weak self, weak engine] in
            let plan = engine.flatMap { try? $0.explain(query, call.hints, in: call.collection) }
            logger.warning(message, metadata: details.merging(plan.map(Self.metadata) ?? [:]) { own, _ in own })
            self?.endExplaining()
        }
    }

    /// Tells of something that is worth knowing.
    func tell(_ message: Logger.Message, _ metadata: Logger.Metadata) {
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

    private static func metadata(_ explained: BSONDocument) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let plan = explained["plan"]?.documentValue {
            metadata["plan"] = "\(plan["kind"]?.stringValue ?? "?")"
            if let index = plan["index"]?.stringValue { metadata["index"] = "\(index)" }
            if plan["sort"] == "memory" { metadata["sort"] = "memory" }
        }
        for figure in ["keysExamined", "documentsExamined", "returned"] {
            if let number = explained[figure]?.intValue { metadata[figure] = "\(number)" }
        }
        if let suggestion = explained["suggestion"]?.documentValue {
            metadata["suggestion"] = "an index on \(suggestion)"
        }
        return metadata
    }
}

extension EngineDatabase {
    fileprivate func explain(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> BSONDocument
    {
        var (query, hints) = (query, hints)
        // Those of a write, or of one that asks for something else than documents.
        for key in ["$upsert", "$dropall"] { query[key] = nil }
        for key in ["$upsert", "$arrayFilters", "$onlycount", "$explain"] { hints[key] = nil }
        return try EngineScope(engine: self, transaction: nil).explain(query, hints, in: collection)
    }
}

extension Duration {
    /// The whole nanoseconds, as near as 64 bits can say.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : nanoseconds + attoseconds / 1_000_000_000
    }
}
