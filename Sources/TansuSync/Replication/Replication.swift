#if TansuSync
import Foundation
import NIOSSL
import Tansu
import TansuBSON

/// A replication that is running, or has ended.
///
/// ```swift
/// let replication = try await people.replicate(with: "https://example.org/people", .both, .continuous)
/// for await status in replication.statuses() { print(status) }
/// ```
///
/// It runs until it is done, ``stop()`` is called, or this value is released.
public final class Replication: Sendable {
    /// Which way documents go, seen from the collection that `replicate` is called on.
    public enum Direction: String, Sendable, Hashable, CaseIterable {
        /// To the other side.
        case push
        /// From the other side.
        case pull
        /// Both ways.
        case both
    }

    /// When a replication ends.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// When the receiving side has everything.
        case once
        /// Not by itself: later changes are replicated as they come.
        case continuous
    }

    /// Which documents are replicated.
    public enum Filter: Sendable {
        /// All documents, also design documents.
        case all
        /// Documents with these ids.
        case ids([String])
        /// Documents that a Mango selector matches, as they are when they change. A document that does not match any more stays.
        case selector(BSONDocument)
    }

    /// How values of types that JSON lacks are written for a server.
    public enum JSONForm: String, Sendable, Hashable, CaseIterable {
        /// As relaxed extended JSON, such as `{"$date": "2026-11-24T09:00:00Z"}`: another Tansu reads the same types.
        case extended
        /// For peers that expect no extended JSON: dates as ISO 8601, binary data as base64, ObjectIds as hex digits,
        /// decimals as numbers. What comes back from the server has these types no more.
        case plain
    }

    /// What can be set of a replication.
    public struct Options: Sendable {
        /// Which documents are replicated.
        public var filter = Filter.all
        /// The greatest number of documents between two checkpoints.
        public var batchSize = 500
        /// About how many bytes of documents are written at once.
        public var batchBytes = 4 << 20
        /// Whether to create the database at the other side if it has none.
        public var createsTarget = false
        /// How values of types that JSON lacks are written for a server.
        public var jsonForm = JSONForm.extended
        /// A file of PEM certificates: only servers whose certificate goes back to one of them are trusted. The
        /// system's certificates when nil.
        public var trustedCertificates: String?
        /// The seconds without a byte after which a connection counts as broken: 1 or more.
        public var timeout = 75
        /// How often a request that fails is sent before a replication ends, or a continuous one begins again: 1 or more.
        public var attempts = 8

        /// The options that a replication has when none are given.
        public init() {}
    }

    private let run: ReplicationRun
    private let task: Task<Void, Never>

    /// Starts a replication between any two sides.
    package init(
        _ near: ReplicationSide, _ far: ReplicationSide, _ direction: Direction, _ mode: Mode,
        _ options: Options = Options(), transport: (any HTTPTransport)? = nil, retries: RetryPolicy = .system,
        replicator: Replicator.Options = .system
    ) throws {
        let run = try ReplicationRun(
            near, far, direction, mode, options, transport ?? options.transport(), retries, replicator)
        self.run = run
        task = Task { await run.run() }
    }

    deinit { task.cancel() }

    /// What it does now.
    public var status: Status { run.status }

    /// What it does now and whenever that changes; ends after ``Status/stopped(_:)`` or ``Status/failed(_:_:)``. A slow
    /// reader misses what is between, never the last one. Any number of tasks can read at once.
    public func statuses() -> AsyncStream<Status> { run.statuses() }

    /// Ends it, and waits until it has ended. What was replicated stays, and another one goes on from there.
    public func stop() async {
        task.cancel()
        await task.value
    }

    /// Waits until it has ended. A task that is cancelled stops it.
    ///
    /// - Returns: What it did.
    /// - Throws: ``SyncError`` or `TansuError`, if it failed; `CancellationError` if it was stopped before its end.
    @discardableResult
    public func wait() async throws -> Progress {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        switch run.status {
        case .failed(let error, _): throw error
        case .stopped(let progress):
            guard run.isComplete else { throw CancellationError() }
            return progress
        default: throw CancellationError()
        }
    }

    /// What each direction did, the one from the other side first; for checkpoints of CouchDB's form.
    package var reports: [ReplicationReport] { run.reports }
}

// MARK: - Collection: replicating

extension Database.Collection {
    /// Starts to replicate with a database on a server: CouchDB, PouchDB Server or another Tansu. Replication of the
    /// collection is switched on if it is off.
    ///
    /// ```swift
    /// let replication = try await people.replicate(
    ///     with: "https://example.org/people", .both, .continuous, credentials: .session("anna", password: "…"))
    /// ```
    ///
    /// An observed query sees what replication brings, in commits of whole batches.
    ///
    /// - Parameters:
    ///   - url: The URL of the database, with or without user and password.
    ///   - direction: Which way documents go.
    ///   - mode: When it ends.
    ///   - credentials: How this side shows the server who it is.
    /// - Returns: The replication, which runs as long as it is kept.
    /// - Throws: ``SyncError`` when the URL or an option is invalid or the collection cannot be replicated;
    ///   `TansuError`. What goes wrong later is a status of the replication.
    public func replicate(
        with url: String, _ direction: Replication.Direction = .both, _ mode: Replication.Mode = .once,
        credentials: RemoteCredentials = .none, options: Replication.Options = .init()
    ) async throws -> Replication {
        let far = try ReplicationSide.url(url, credentials: credentials)
        let near = ReplicationSide.collection(try await enableReplication())
        return try Replication(near, far, direction, mode, options)
    }

    /// Starts to replicate with a collection of this process, without HTTP. Replication of both is switched on if it is
    /// off.
    ///
    /// - Parameters:
    ///   - other: A collection of another database, or another one of this database.
    ///   - direction: Which way documents go.
    ///   - mode: When it ends.
    /// - Returns: The replication, which runs as long as it is kept.
    /// - Throws: ``SyncError`` when an option is invalid or a collection cannot be replicated; `TansuError`.
    public func replicate<Other>(
        with other: Database.Collection<Other>, _ direction: Replication.Direction = .both,
        _ mode: Replication.Mode = .once, options: Replication.Options = .init()
    ) async throws -> Replication {
        let near = try await enableReplication()
        let far = try await other.enableReplication()
        guard near !== far else {
            throw SyncError(.invalidOptions, "Collection \"\(name)\" is not replicated with itself")
        }
        return try Replication(.collection(near), .collection(far), direction, mode, options)
    }
}

// MARK: - ReplicationSide

/// A side of a replication: a collection of this process, or a database on a server.
package enum ReplicationSide: Sendable {
    case collection(ReplicatedCollection)
    case remote(RemoteURL, RemoteCredentials)

    /// Reads a URL.
    ///
    /// - Throws: ``SyncError`` of code `invalidURL`.
    package static func url(
        _ text: String, credentials: RemoteCredentials = .none
    ) throws(SyncError) -> ReplicationSide { .remote(try RemoteURL(text), credentials) }

    /// What distinguishes it from others.
    fileprivate var identity: String {
        get async throws {
            switch self {
            case .collection(let collection): try await LocalPeer(collection).identity
            case .remote(let url, _): url.text
            }
        }
    }
}

extension Replication.Options {
    /// The name of the checkpoints of a replication with these options.
    package func checkpointID(_ source: ReplicationSide, _ target: ReplicationSide) async throws -> String {
        Replicator.checkpointID(
            try await source.identity, try await target.identity, try replicationFilter())
    }

    /// The connections to servers.
    ///
    /// - Throws: ``SyncError`` of code `invalidOptions`.
    func transport() throws(SyncError) -> ClientTransport {
        guard batchSize > 0, batchBytes > 0, timeout > 0, attempts > 0 else {
            throw SyncError(
                .invalidOptions, "batchSize, batchBytes, timeout and attempts of a replication are 1 or more")
        }
        var trusted: [NIOSSLCertificate]?
        if let trustedCertificates {
            trusted = try? NIOSSLCertificate.fromPEMFile(trustedCertificates)
            guard trusted?.isEmpty == false else {
                let isReadable = FileManager.default.isReadableFile(atPath: trustedCertificates)
                let fault = isReadable ? "has no PEM certificates" : "cannot be read"
                throw SyncError(.invalidOptions, "The file \"\(trustedCertificates)\" \(fault)")
            }
        }
        return ClientTransport(trusted: trusted, timeout: Int64(timeout))
    }

    /// The filter as the replicator has it.
    func replicationFilter() throws(SyncError) -> ReplicationFilter {
        switch filter {
        case .all: return .all
        case .ids(let ids): return .ids(Set(ids.map { BytewiseText($0) }))
        case .selector(let selector):
            do { return .selector(try Mango.Selector(selector)) } catch {
                throw SyncError(.invalidOptions, "The selector of a replication is invalid: \(error)")
            }
        }
    }
}
#endif
