public import CoreMetrics
import Foundation
public import Logging

extension Database {
    /// How to open a database.
    public struct Options: Sendable {
        /// What a commit survives once it has returned.
        public var durability: Durability

        /// Never write. Several processes may open a folder read-only at once; they keep writers out, unless they set
        /// ``allowWriter``.
        public var readOnly: Bool

        /// Never write, and read whether or not another process writes.
        ///
        /// The database has all commits up to its opening, or to the last call of `refresh()`, and none after it.
        /// No lock is taken: opening neither waits for a writer nor makes one wait. It copies the index file into a
        /// temporary file and throws `.busy` if checkpoints follow each other too fast for that.
        public var allowWriter: Bool

        /// With ``allowWriter``: each read outside of a transaction, and each read transaction that begins, has the newest
        /// commit of the process that writes. Change streams and observations report its commits.
        public var follow: Bool

        /// Throw `.notFound` instead of creating a new database.
        public var mustExist: Bool

        /// The key of an encrypted database, and of a new one, which is encrypted with it; not encrypted when `nil`.
        ///
        /// Opening throws `.encrypted` without the key, `.wrongKey` with another one, and `.invalidArgument` when the
        /// database is not encrypted. A temporary database, or one in memory, has a random key that is stored nowhere.
        public var key: DatabaseKey?

        /// How long a write waits for the write lock before it throws `.busy`. For async writes it counts from the call:
        /// many of them wait for a thread first.
        public var busyTimeout: Duration

        /// How long opening waits while another process has the database open, before it throws `.locked`. Opening
        /// blocks its thread meanwhile.
        public var lockTimeout: Duration

        /// The size of one segment of the log in bytes, 1 MiB to 1 GiB; the engine's 64 MiB when `nil`.
        public var segmentSize: Int?

        /// Bytes of log between background checkpoints, where a record counts as 256 at least; the engine's 64 MiB when `nil`.
        public var checkpointBytes: Int?

        /// The limit of index blocks in memory, in bytes; the engine's 64 MiB when `nil`.
        public var indexCacheBytes: Int?

        /// What a sort may take before it uses temporary files, in bytes, at least 64 KiB; the engine's 100 MiB when
        /// `nil`. ``Database/Query/maxMemory(_:)`` sets it for one call.
        public var sortMemoryBytes: Int?

        /// What groups and distinct values may take before they use temporary files, in bytes, at least 64 KiB; the
        /// engine's 256 MiB when `nil`.
        public var groupMemoryBytes: Int?

        /// What a write transaction may keep in memory until its commit, in bytes: a write that would exceed it throws
        /// `.tooLarge` and changes nothing. No limit when `nil`.
        public var transactionMemoryBytes: Int?

        /// The limit of decompressed blocks of compressed collections in memory, in bytes, without those that are being
        /// read; the engine's 32 MiB when `nil`.
        public var blockCacheBytes: Int?

        /// How many bytes a snapshot (a read transaction, a cursor, a change stream) may keep on the disk that nobody else
        /// needs. Beyond that its reads throw `.tooLarge` until it ends; those of a reader with `allowWriter` until
        /// `refresh()`. For a database that is opened for writing it holds for each such reader as well. No limit when
        /// `nil`.
        public var maxPinnedBytes: Int?

        /// The share of dead bytes, in percent, at which a segment is compacted in the background, 1 to 100; the
        /// engine's 50 when `nil`. With 0 only `compact(progress:)` compacts.
        public var compactionPercent: Int?

        /// The share of the time, in percent, that background compaction may spend copying, 1 to 100; the engine's 25
        /// when `nil`.
        public var compactionShare: Int?

        /// Logs slow calls, and documents that were saved with ``Database/ValidationLevel/warn``; none are logged when `nil`.
        ///
        /// A call is a warning with the collection and the query without its values; queries also with their plan and a
        /// suggested index. A document is one with the collection, its `_id`, the path and the rule.
        public var logger: Logger?

        /// The duration from which on a call is slow.
        public var slowCallTime: Duration

        /// Whether slow calls are logged with the values of their queries, which may be personal; as `?` otherwise. Invalid
        /// documents are logged with the message then.
        public var logsQueryValues = false

        /// Receives each slow call as ``logger`` does, with its kind, when it ended, and always with the values of its query.
        package var slowCallList: (@Sendable (String, Date, Logger.Metadata) -> Void)?

        /// Where calls are counted and timed, such as `MetricsSystem.factory`; not measured when `nil`.
        ///
        /// The timer `tansu.call.duration` and the counter `tansu.call.failures`, each with the dimension `call`.
        public var metrics: (any MetricsFactory)?

        /// Called on the opening thread with the progress of a recovery or a rebuild of indexes, in bytes of the log.
        ///
        /// What it throws ends the opening and is rethrown. The log is not changed by that.
        public var progress: (@Sendable (Progress) throws -> Void)?

        /// Makes options; every one has a default.
        public init(
            durability: Durability = .full, readOnly: Bool = false, allowWriter: Bool = false,
            follow: Bool = false, mustExist: Bool = false, key: DatabaseKey? = nil,
            busyTimeout: Duration = .seconds(60), lockTimeout: Duration = .zero,
            segmentSize: Int? = nil, checkpointBytes: Int? = nil, indexCacheBytes: Int? = nil,
            sortMemoryBytes: Int? = nil, groupMemoryBytes: Int? = nil, transactionMemoryBytes: Int? = nil,
            blockCacheBytes: Int? = nil, maxPinnedBytes: Int? = nil,
            compactionPercent: Int? = nil, compactionShare: Int? = nil,
            logger: Logger? = nil, slowCallTime: Duration = .milliseconds(100),
            metrics: (any MetricsFactory)? = nil, progress: (@Sendable (Progress) throws -> Void)? = nil
        ) {
            self.durability = durability
            self.readOnly = readOnly
            self.allowWriter = allowWriter
            self.follow = follow
            self.mustExist = mustExist
            self.key = key
            self.busyTimeout = busyTimeout
            self.lockTimeout = lockTimeout
            self.segmentSize = segmentSize
            self.checkpointBytes = checkpointBytes
            self.indexCacheBytes = indexCacheBytes
            self.sortMemoryBytes = sortMemoryBytes
            self.groupMemoryBytes = groupMemoryBytes
            self.transactionMemoryBytes = transactionMemoryBytes
            self.blockCacheBytes = blockCacheBytes
            self.maxPinnedBytes = maxPinnedBytes
            self.compactionPercent = compactionPercent
            self.compactionShare = compactionShare
            self.logger = logger
            self.slowCallTime = slowCallTime
            self.metrics = metrics
            self.progress = progress
        }
    }

    /// What a commit survives once it has returned.
    public enum Durability: Sendable, Hashable {
        /// Power loss: it is synced to the disk. Writers that commit together share one sync.
        case full

        /// The end of this process by any signal: the operating system has it.
        case process

        /// The end of this process immediately, and power loss after the interval.
        case interval(Duration)

        /// The end of this process immediately, and power loss after the interval.
        public static func interval(milliseconds: Int) -> Durability { .interval(.milliseconds(milliseconds)) }
    }
}

// MARK: - Store

extension Database {
    /// Where a database stores its documents.
    public enum Store: Sendable, Hashable {
        /// A folder. `~` at the beginning of a path, here and everywhere, is the user's home.
        case persistent(path: String)

        /// A new folder in `directory`, or in the system's temporary directory, that is removed on closing or when the process
        /// exits; after a crash, when the next one is made there.
        case temporary(in: String?)

        /// Memory, without any file.
        case memory

        /// A new folder in the system's temporary directory that is removed on closing or when the process exits; after a
        /// crash, when the next one is made there.
        public static var temporary: Store { .temporary(in: nil) }
    }
}

// MARK: - Progress

extension Database {
    /// The progress of a long call.
    public struct Progress: Sendable, Hashable {
        /// How much is done, in units of the call, such as documents.
        public let done: Int

        /// About how many there are; `nil` when unknown.
        public let total: Int?

        /// The fraction that is done, 0 to 1; `nil` when unknown.
        public var fraction: Double? {
            total.map { $0 <= done ? 1 : Double(done) / Double($0) }
        }
    }
}
