import CoreMetrics
import Foundation
import Logging

/// The calls of the engine that are recorded, with the numbers that the engine gives them.
enum CallKind: UInt32, Sendable, CaseIterable {
    case get = 1
    case find = 2
    case count = 3
    case distinct = 5
    case aggregate = 6
    case save = 7
    case update = 8
    case remove = 9
    case commit = 11
    case findAndModify = 12
    case begin = 13
    case pipeline = 15
}

/// Receives the calls that the engine has measured, and records them in the logger and the metrics that a database was
/// opened with.
///
/// `@unchecked Sendable`: `engine` is set before there are calls, and everything else that changes has a lock.
final class CallRecorder: @unchecked Sendable {
    /// What records the calls of this task that may be made again.
    @TaskLocal private static var trial: Locked<[@Sendable () -> Void]>?

    private let receiver: SlowCallReceiver
    private let slowTime: Duration
    private let timers: [CallKind: CoreMetrics.Timer]
    private let failures: [CallKind: CoreMetrics.Counter]
    private let queue = WorkQueue("tansu explain", width: 1)
    private let isExplaining = Locked(false)
    /// The types of the collections' documents, as far as they are known.
    private let types = Locked<[BytewiseText: any Any.Type]>([:])
    /// The database whose calls these are.
    weak var engine: EngineDatabase?

    /// The duration from which on it wants calls.
    var shortest: Duration { timers.isEmpty ? slowTime : .zero }

    /// `nil` without a logger, metrics and a list of slow calls: then nothing is measured.
    init?(_ options: Database.Options) {
        receiver = SlowCallReceiver(options)
        guard receiver.isWanted || options.metrics != nil else { return nil }
        slowTime = options.slowCallTime
        var timers: [CallKind: CoreMetrics.Timer] = [:]
        var failures: [CallKind: CoreMetrics.Counter] = [:]
        if let factory = options.metrics {
            for kind in CallKind.allCases {
                let dimensions = [("call", "\(kind)")]
                timers[kind] = CoreMetrics.Timer(
                    label: "tansu.call.duration", dimensions: dimensions, factory: factory)
                failures[kind] = CoreMetrics.Counter(
                    label: "tansu.call.failures", dimensions: dimensions, factory: factory)
            }
        }
        (self.timers, self.failures) = (timers, failures)
    }

    /// Remembers the type of a collection's documents, with which indexes are suggested.
    func noteType<Element>(_ type: Element.Type, of collection: String) {
        guard type != BSONDocument.self else { return }
        types.withLock { $0[BytewiseText(collection)] = type }
    }

    /// Receives a call that has ended, on its thread.
    func receive(_ call: RecordedCall) {
        // Calls on the library's own collections are not recorded.
        guard !CommandLimits.isOwned(call.collection) else { return }
        var call = call
        if logs(call) { call.end = Date() }
        guard let trial = Self.trial else { return record(call) }
        trial.withLock { [call] in $0.append { self.record(call) } }
    }

    /// Runs `body`, calls with a time limit that are made again when it returns `nil`: then these are not recorded.
    static func trying<Result>(_ recorder: CallRecorder?, _ body: () throws -> Result?) rethrows -> Result? {
        guard recorder != nil else { return try body() }
        let trial = Locked<[@Sendable () -> Void]>([])
        var isMadeAgain = false
        defer { if !isMadeAgain { trial.withLock { $0 }.forEach { $0() } } }
        let result = try $trial.withValue(trial, operation: body)
        isMadeAgain = result == nil
        return result
    }

    /// Whether a call is slow and somebody wants to know.
    func logs(_ call: RecordedCall) -> Bool { receiver.isWanted && .nanoseconds(call.nanoseconds) >= slowTime }

    private func record(_ call: RecordedCall) {
        timers[call.kind]?.recordNanoseconds(call.nanoseconds)
        if call.failed { failures[call.kind]?.increment() }
        guard logs(call) else { return }
        var details: Logger.Metadata = ["milliseconds": "\(Double(call.nanoseconds / 1000) / 1000)"]
        if !call.collection.isEmpty { details["collection"] = "\(call.collection)" }
        if let order = call.hints["$orderby"] { details["orderby"] = "\(order)" }
        let isPipeline = call.kind == .pipeline
        // Explaining runs the query again, on another thread and one query at a time.
        let isFree = isExplaining.withLock { isExplaining in
            defer { isExplaining = isExplaining || (call.query != nil && !isPipeline) }
            return !isExplaining
        }
        guard let query = call.query, !isPipeline, isFree else { return receiver.receive(call, details) }
        let job = { @Sendable [weak self, receiver, details] in
            var (query, hints) = (query, call.hints)
            // Those of a write, or of a call that asks for something else than documents.
            for key in ["$upsert", "$dropall"] { query[key] = nil }
            for key in ["$upsert", "$arrayFilters", "$onlycount", "$explain"] { hints[key] = nil }
            hints["$maxTimeMS"] = 10_000
            let explained = self?.explain(query, hints, in: call.collection) ?? [:]
            receiver.receive(call, details.merging(explained) { own, _ in own })
            self?.isExplaining.withLock { $0 = false }
        }
        do {
            try queue.submit(job)
        } catch {
            receiver.receive(call, details)
            isExplaining.withLock { $0 = false }
        }
    }

    /// Ends its thread when that has nothing to do.
    func stop() {
        queue.stop()
    }

    /// Logs a document that was saved though it violates the validator of its collection. What it has wrong may be personal.
    func warn(of document: BSONDocument, _ violation: BSONDocument, in collection: String) {
        var metadata: Logger.Metadata = ["collection": "\(collection)"]
        for (key, value) in document { metadata[key] = "\(value)" }
        for key in ["path", "rule"] + (receiver.logsValues ? ["message"] : []) {
            metadata[key] = "\(violation[key]?.stringValue ?? "")"
        }
        receiver.logger?.warning("invalid document", metadata: metadata)
    }

    /// Logs an event.
    func log(_ message: Logger.Message, _ metadata: Logger.Metadata) {
        receiver.logger?.info(message, metadata: metadata)
    }

    private func explain(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) -> Logger.Metadata {
        let scope = engine.map { EngineScope(engine: $0, transaction: nil) }
        guard let explained = try? scope?.explain(query, hints, in: collection) else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let plan = explained["plan"]?.documentValue {
            metadata["plan"] = "\(plan["kind"]?.stringValue ?? "?")"
            if let index = plan["index"]?.stringValue { metadata["index"] = "\(index)" }
            if plan["sort"] == "memory" { metadata["sort"] = "memory" }
        }
        for name in ["keysExamined", "documentsExamined", "returned"] {
            if let number = explained[name]?.intValue { metadata[name] = "\(number)" }
        }
        let suggestions = IndexSuggestion.all(explained, in: collection) { name in
            types.withLock { $0[BytewiseText(name)] }
        }
        if !suggestions.isEmpty { metadata["suggestion"] = "\(suggestions.map(\.line).joined(separator: "; "))" }
        return metadata
    }
}

/// Who is told of slow calls: a logger, and a list that the query's values may be in.
private struct SlowCallReceiver: Sendable {
    let logger: Logger?
    let logsValues: Bool
    private let list: (@Sendable (String, Date, Logger.Metadata) -> Void)?

    init(_ options: Database.Options) {
        (logger, logsValues, list) = (options.logger, options.logsQueryValues, options.slowCallList)
    }

    var isWanted: Bool { logger != nil || list != nil }

    func receive(_ call: RecordedCall, _ details: Logger.Metadata) {
        func withQuery(_ query: BSONDocument?) -> Logger.Metadata {
            guard let query else { return details }
            let isPipeline = call.kind == .pipeline
            let text = (isPipeline ? BSONValue(query.map(\.value)) : .document(query)).extendedJSON(.relaxed)
            return details.merging([isPipeline ? "pipeline" : "query": "\(text)"]) { $1 }
        }
        logger?.warning(
            "slow \(call.kind)", metadata: withQuery(call.query.map { logsValues ? $0 : $0.withoutValues }))
        list?("\(call.kind)", call.end, withQuery(call.query))
    }
}

/// A call of the engine that has ended.
struct RecordedCall: Sendable {
    let kind: CallKind
    let nanoseconds: Int64
    let failed: Bool
    /// Empty for the beginning and the commit of a transaction.
    let collection: String
    /// What it was about, of a pipeline its stages; only of a call that is logged.
    var query: BSONDocument?
    var hints: BSONDocument = [:]
    /// When it ended; likewise.
    var end = Date.distantPast
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
