#if TansuSync
import Crypto
import Foundation
import TansuBSON

/// Brings what one database has to another one, in CouchDB's way: it reads the changes of the source since the last
/// checkpoint, asks the target which revisions it lacks, copies these, and records how far it is on both sides.
///
/// It has no clock and no source of random numbers but those that it is given, so that a simulation can repeat it.
package struct Replicator: Sendable {
    package struct Options: Sendable {
        var filter = ReplicationFilter.all
        /// The greatest number of documents between two checkpoints.
        var batchSize = 500
        /// About how many bytes of documents are written at once.
        var batchBytes = 4 << 20
        /// The time that a checkpoint says.
        var now: @Sendable () -> Date
        /// Makes the names of runs: another one for each.
        var makeSessionID: @Sendable () -> String
        /// Called when there are changes, after each page and after each batch: what was done, and about how many changes follow.
        var onProgress: @Sendable (ReplicationReport, Int?) -> Void = { _, _ in }

        init(now: @escaping @Sendable () -> Date, makeSessionID: @escaping @Sendable () -> String) {
            self.now = now
            self.makeSessionID = makeSessionID
        }

        /// With the clock and the random numbers of the system.
        static var system: Options {
            Options(now: { Date() }, makeSessionID: { UUID().uuidString.lowercased().filter { $0 != "-" } })
        }
    }

    private let source: any ReplicationPeer
    private let target: any ReplicationPeer
    private let options: Options

    init(from source: any ReplicationPeer, to target: any ReplicationPeer, _ options: Options) {
        self.source = source
        self.target = target
        self.options = options
    }

    /// Copies what the target lacks, and ends.
    ///
    /// - Throws: What a peer throws. A later run goes on after the last batch that was recorded.
    func runOnce() async throws -> ReplicationReport {
        var run = try await begin()
        try await catchUp(&run)
        return run.report
    }

    /// Copies what the target lacks, now and whenever the source changes, until the task is cancelled.
    ///
    /// - Parameter isIdle: Called whenever the target has everything.
    /// - Throws: `CancellationError`, or what a peer throws.
    func runContinuously(isIdle: (ReplicationReport) -> Void = { _ in }) async throws {
        var run = try await begin()
        while true {
            try await catchUp(&run)
            isIdle(run.report)
            try await source.waitForChange(after: run.sequence, filter: options.filter)
            options.onProgress(run.report, nil)
        }
    }

    // MARK: One run

    private struct Run {
        let session: String
        let startTime: Date
        let start: PeerSequence?
        let checkpointID: String
        /// The runs before.
        let history: [ReplicationCheckpoint.Entry]
        /// The sequence up to which the target has everything.
        var sequence: PeerSequence?
        var report = ReplicationReport()
    }

    private func begin() async throws -> Run {
        let identities = (try await source.identity, try await target.identity)
        let id = Self.checkpointID(identities.0, identities.1, options.filter)
        let former = try await source.checkpoint(id)
        // One file and a copy of it have one identity, and so the same checkpoint for both directions.
        let isUsable = identities.0 != identities.1
        let start = isUsable ? ReplicationCheckpoint.common(former, try await target.checkpoint(id)) : nil
        var run = Run(
            session: options.makeSessionID(), startTime: options.now(), start: start, checkpointID: id,
            history: former?.history ?? [], sequence: start)
        run.report.session = run.session
        run.report.sequence = start
        run.report.former = former
        return run
    }

    static func checkpointID(_ source: String, _ target: String, _ filter: ReplicationFilter) -> String {
        var hash = SHA256()
        for part in [source, target, filter.identity] {
            hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
        }
        return hash.finalize().prefix(16).map { String(format: "%02x", $0) }.joined()
    }

    private func catchUp(_ run: inout Run) async throws {
        while true {
            try Task.checkCancellation()
            let changes = try await source.changes(
                after: run.sequence, filter: options.filter, limit: options.batchSize)
            try await copy(changes.documents, pending: changes.pending, &run.report)
            if changes.last != run.sequence, let last = changes.last {
                run.sequence = last
                // Also after a page without a document of the filter, so that no run looks at it again.
                try await record(&run)
            }
            if changes.isComplete { return }
        }
    }

    private func copy(
        _ documents: [DocumentRevisions], pending: Int?, _ report: inout ReplicationReport
    ) async throws {
        guard !documents.isEmpty else { return }
        report.missingChecked += documents.reduce(0) { $0 + $1.revisions.count }
        let missing = try await target.missing(documents)
        guard !missing.isEmpty else { return options.onProgress(report, pending) }
        report.missingFound += missing.reduce(0) { $0 + $1.revisions.count }
        let ancestors = Dictionary(
            missing.map { (BytewiseText($0.id), $0.ancestors) }, uniquingKeysWith: { first, _ in first })
        var batch: [PeerRevision] = []
        var size = 0
        try await source.fetch(missing.map { DocumentRevisions(id: $0.id, revisions: $0.revisions) }) { fetched in
            guard case .revision(var revision) = fetched else {
                if case .failure(let failure) = fetched { report.add(failure) }
                return
            }
            revision.ancestors = ancestors[BytewiseText(revision.id)] ?? []
            report.documentsRead += 1
            if revision.bulkGet != .nothing { report.bulkGetAttempts += 1 }
            if revision.bulkGet == .everything { report.bulkGetDocuments += 1 }
            batch.append(revision)
            size += revision.size
            guard size >= options.batchBytes || batch.count >= options.batchSize else { return }
            try await write(batch, &report)
            options.onProgress(report, pending)
            batch = []
            size = 0
        }
        try await write(batch, &report)
        options.onProgress(report, pending)
    }

    private func write(_ revisions: [PeerRevision], _ report: inout ReplicationReport) async throws {
        guard !revisions.isEmpty else { return }
        let reasons = try await target.write(revisions)
        for (revision, reason) in zip(revisions, reasons) {
            if let reason {
                report.add(.init(id: revision.id, revision: revision.path.revision, reason: reason))
            } else {
                report.documentsWritten += 1
            }
        }
    }

    // MARK: Checkpoints

    /// Records how far the run is, once what was written cannot be lost.
    private func record(_ run: inout Run) async throws {
        guard let sequence = run.sequence else { return }
        try await target.ensureCommit()
        let checkpoint = ReplicationCheckpoint(
            session: run.session, sequence: sequence, history: [entry(run, sequence)] + run.history)
        // The target's is never the older one, so that an older one shows that the target was restored.
        try await target.save(checkpoint, as: run.checkpointID)
        try await source.save(checkpoint, as: run.checkpointID)
        run.report.checkpoint = checkpoint
        run.report.sequence = sequence
    }

    private func entry(_ run: Run, _ sequence: PeerSequence) -> ReplicationCheckpoint.Entry {
        let report = run.report
        var fields: BSONDocument = [
            "session_id": .string(run.session),
            "start_time": .string(run.startTime.httpText), "end_time": .string(options.now().httpText),
            "start_last_seq": run.start?.json ?? 0, "end_last_seq": sequence.json, "recorded_seq": sequence.json,
        ]
        // CouchDB counts from the first run on, as long as one begins where the one before it ended.
        let before = run.start == nil ? [:] : run.history.first?.fields ?? [:]
        for (name, count) in [
            ("missing_checked", report.missingChecked), ("missing_found", report.missingFound),
            ("docs_read", report.documentsRead), ("docs_written", report.documentsWritten),
            ("doc_write_failures", report.writeFailures), ("bulk_get_attempts", report.bulkGetAttempts),
            ("bulk_get_docs", report.bulkGetDocuments),
        ] {
            fields[name] = .int64(
                (before[name]?.int64Value ?? 0).addingReportingOverflow(Int64(count)).partialValue)
        }
        return ReplicationCheckpoint.Entry(id: run.session, recorded: sequence, fields: fields)
    }
}

extension Date {
    /// As CouchDB's checkpoints have it, such as `Mon, 23 Nov 2026 17:13:15 GMT`.
    fileprivate var httpText: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: self)
    }
}

/// How far a replication is, in the form of CouchDB's `_local` documents. Both sides keep one, because either can be
/// restored from a backup: a replication goes on from what both have.
package struct ReplicationCheckpoint: Sendable, Hashable {
    /// One run of a replication.
    package struct Entry: Sendable, Hashable {
        var id: String
        /// The sequence up to which it was recorded.
        var recorded: PeerSequence
        package var fields: BSONDocument
    }

    /// The greatest number of sessions that are kept.
    static let sessionLimit = 50

    var session: String
    var sequence: PeerSequence
    /// The runs, the newest first.
    package var history: [Entry]

    init(session: String, sequence: PeerSequence, history: [Entry]) {
        self.session = session
        self.sequence = sequence
        self.history = Array(history.prefix(Self.sessionLimit))
    }

    /// Reads the fields of a document; nil when they are no checkpoint.
    init?(_ fields: BSONDocument) {
        guard let session = fields["session_id"]?.stringValue, let sequence = fields["source_last_seq"],
            case .array(let entries)? = fields["history"]
        else { return nil }
        let history = entries.compactMap { entry -> Entry? in
            guard let fields = entry.documentValue, let id = fields["session_id"]?.stringValue,
                let recorded = fields["recorded_seq"]
            else { return nil }
            return Entry(id: id, recorded: PeerSequence(recorded), fields: fields)
        }
        self.init(session: session, sequence: PeerSequence(sequence), history: history)
    }

    /// The fields of the document.
    package var fields: BSONDocument {
        [
            "session_id": .string(session), "source_last_seq": sequence.json, "replication_id_version": 4,
            "history": .array(BSONArray(history.map { .document($0.fields) })),
        ]
    }

    /// The sequence up to which both sides have everything; nil for the beginning.
    static func common(_ source: ReplicationCheckpoint?, _ target: ReplicationCheckpoint?) -> PeerSequence? {
        guard let source, let target else { return nil }
        if source.session == target.session {
            return lower(source.sequence, target.sequence)
        }
        for session in source.history {
            guard let other = target.history.first(where: { $0.id == session.id }) else { continue }
            return lower(session.recorded, other.recorded)
        }
        return nil
    }

    /// The lower of what both recorded of one session: one side may have been restored in the middle of it.
    private static func lower(_ a: PeerSequence, _ b: PeerSequence) -> PeerSequence? {
        if a == b { return a }
        guard let first = a.number, let second = b.number else { return nil }
        return first < second ? a : b
    }
}
#endif
