public import CoreMetrics
public import Logging

extension Database {
    /// How to open a database.
    public struct Options: Sendable {
        /// What a commit that returned survives.
        public var durability: Durability

        /// Never write. Several read-only openers may share a folder.
        public var readOnly: Bool

        /// Throw `.notFound` instead of creating a new database.
        public var mustExist: Bool

        /// How long a write waits for the transaction under way before it throws `.busy`.
        public var busyTimeout: Duration

        /// Bytes of one file of the log, 1 MiB to 1 GiB; the engine's 64 MiB when `nil`.
        public var segmentSize: Int?

        /// Bytes of log between checkpoints in the background; the engine's 64 MiB when `nil`.
        public var checkpointBytes: Int?

        /// The bound on clean index blocks in memory; the engine's 64 MiB when `nil`.
        public var indexCacheBytes: Int?

        /// The part of a log file that must be dead, in percent, to have it compacted in the background, 1 to 100; the
        /// engine's 50 when `nil`. With 0 only `compact(progress:)` does it.
        public var compactionPercent: Int?

        /// The part of the time, in percent, for which a compaction in the background may copy, 1 to 100; the engine's
        /// 25 when `nil`.
        public var compactionShare: Int?

        /// Told of calls that take long; nobody when `nil`.
        ///
        /// Each is a warning with the collection and the query without its values; queries also with their plan and,
        /// where one would have helped, the index to make.
        public var logger: Logger?

        /// How long a call takes that `logger` is told of.
        public var slowCallTime: Duration

        /// Where calls are counted and timed, such as `MetricsSystem.factory`; nowhere when `nil`, at no cost.
        ///
        /// The timer `tansu.call.duration` and the counter `tansu.call.failures`, each with the dimension `call`.
        public var metrics: (any MetricsFactory)?

        /// Told how much of a long opening is done, on the opening thread.
        public var progress: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)?

        /// Makes options; every one has a default.
        public init(
            durability: Durability = .full, readOnly: Bool = false, mustExist: Bool = false,
            busyTimeout: Duration = .seconds(60), segmentSize: Int? = nil, checkpointBytes: Int? = nil,
            indexCacheBytes: Int? = nil, compactionPercent: Int? = nil, compactionShare: Int? = nil,
            logger: Logger? = nil, slowCallTime: Duration = .milliseconds(100),
            metrics: (any MetricsFactory)? = nil, progress: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)? = nil
        ) {
            self.durability = durability
            self.readOnly = readOnly
            self.mustExist = mustExist
            self.busyTimeout = busyTimeout
            self.segmentSize = segmentSize
            self.checkpointBytes = checkpointBytes
            self.indexCacheBytes = indexCacheBytes
            self.compactionPercent = compactionPercent
            self.compactionShare = compactionShare
            self.logger = logger
            self.slowCallTime = slowCallTime
            self.metrics = metrics
            self.progress = progress
        }
    }

    /// What a commit that returned survives.
    public enum Durability: Sendable, Hashable {
        /// Power loss: the disk has it. Writers that commit together share one sync.
        case full

        /// The death of this process, by whatever signal: the operating system has it.
        case process

        /// The death of this process at once, and power loss after the interval.
        case interval(Duration)

        /// The death of this process at once, and power loss after so many milliseconds.
        public static func interval(milliseconds: Int) -> Durability { .interval(.milliseconds(milliseconds)) }
    }
}
