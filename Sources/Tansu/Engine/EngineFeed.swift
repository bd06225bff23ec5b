import CTansu
import Foundation

/// A change feed of the engine: closed when the last reference goes, or with its database.
///
/// It never waits: ``CommitSignal`` tells when there is something to read.
///
/// `@unchecked Sendable`: the engine wants one thread at a time in a feed, and the handle's lock sees to that.
final class EngineFeed: @unchecked Sendable {
    /// What is open in the engine; shared with the database, which closes it when it is closed itself.
    final class Handle: @unchecked Sendable {
        private let lock = NSLock()
        private let interrupt = EngineInterrupt { tansu_feed_cancel($0) }
        private var pointer: OpaquePointer?

        func begin(_ pointer: OpaquePointer?) {
            lock.withLock { self.pointer = pointer }
            interrupt.begin(pointer)
        }

        /// Runs `body` on the engine's feed. Throws `.closed` when that was closed with its database.
        func call<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
            try lock.withLock {
                guard let pointer else {
                    throw TansuError(.closed, "the database was closed; open it again to go on from the last change")
                }
                return try body(pointer)
            }
        }

        func cancel() {
            interrupt.ask()
        }

        func close() {
            interrupt.end()
            lock.withLock {
                tansu_feed_close(pointer)
                pointer = nil
            }
        }
    }

    /// Tells when there may be something to read.
    let signal: CommitSignal
    private let engine: EngineDatabase
    private let handle = Handle()

    /// Opens a feed.
    ///
    /// - Parameters:
    ///   - since: The last commit that need not be told; the newest when `nil`.
    ///   - options: As `tansu_feed_open()` knows them.
    init(_ engine: EngineDatabase, since: Int?, options: BSONDocument) throws {
        self.engine = engine
        signal = engine.commits
        if let since, since < 0 { throw TansuError(.misuse, "the number of a commit is not negative") }
        let number = since.map { UInt64($0) } ?? UInt64.max  // TANSU_FEED_NOW, a macro that Swift does not see
        try engine.call { database in
            var pointer: OpaquePointer?
            try options.withUnsafeBytes { options in
                _ = try engineCall {
                    tansu_feed_open(database, number, options.baseAddress, options.count, &pointer, $0)
                }
            }
            handle.begin(pointer)
            // Within the call: the database cannot be closed between the two.
            engine.adopt(handle)
        }
    }

    deinit {
        close()
    }

    /// Ends it. Harmless at any time.
    func close() {
        engine.disown(handle)
        handle.close()
    }

    /// Runs `body` on the next change, whose pointers are valid inside it only. `nil` when there is none now.
    func next<Result>(_ body: (tansu_change) throws -> Result) throws -> Result? {
        try handle.call { feed in
            var change = tansu_change()
            tansu_change_init(&change)
            guard try engineCall({ tansu_feed_next(feed, 0, &change, $0) }) == TANSU_OK else { return nil }
            return try body(change)
        }
    }

    /// Passes over everything that there is.
    func skip() throws {
        _ = try handle.call { feed in try engineCall { tansu_feed_skip(feed, 0, nil, $0) } }
    }

    /// Stops it for good, from any thread: a read that goes on, and later ones, throw `.cancelled`.
    func cancel() {
        handle.cancel()
    }

    /// The moment to give to `waitForCommit`, taken before looking for changes.
    func mark() throws -> UInt64 {
        try signal.mark(engine)
    }
}

/// Closes a feed as soon as no iterator has it: the thread that read may hold on to the feed itself for an instant
/// longer.
final class OwnedFeed: Sendable {
    let engine: EngineFeed

    init(_ engine: EngineFeed) {
        self.engine = engine
    }

    deinit {
        engine.close()
    }
}
