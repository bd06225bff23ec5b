import CTansu
import Foundation

/// A change stream of the engine: closed with the last reference, or with its database.
///
/// It never blocks: ``CommitSignal`` signals when there may be something to read.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a feed, which the handle's lock ensures.
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
                    throw TansuError(
                        .closed, "The database is closed; open it again and continue from the last resume token")
                }
                return try body(pointer)
            }
        }

        func cancel() {
            interrupt.request()
        }

        func close() {
            interrupt.end()
            lock.withLock {
                tansu_feed_close(pointer)
                pointer = nil
            }
        }
    }

    /// Signals when there may be something to read.
    let signal: CommitSignal
    private let engine: EngineDatabase
    private let handle = Handle()

    /// Opens a feed.
    ///
    /// - Parameters:
    ///   - since: The number of the last commit that is not delivered; the newest when `nil`.
    ///   - options: The options of `tansu_feed_open()`.
    init(_ engine: EngineDatabase, since: Int?, options: BSONDocument) throws {
        self.engine = engine
        signal = engine.commits
        if let since, since < 0 {
            throw TansuError(.invalidArgument, "The commit number is negative; pass a resume token or nil")
        }
        let number = since.map { UInt64($0) } ?? UInt64.max  // TANSU_FEED_NOW, a macro that Swift does not see
        try engine.call { database in
            var pointer: OpaquePointer?
            try options.withUnsafeBytes { options in
                _ = try engineCall {
                    tansu_feed_open(database, number, tansu_document(options), &pointer, $0)
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

    /// Runs `body` on the next event, whose pointers are valid inside it only. `nil` when there is none now.
    func next<Result>(_ body: (tansu_change) throws -> Result) throws -> Result? {
        try handle.call { feed in
            var change = tansu_change()
            tansu_change_init(&change)
            guard try engineCall({ tansu_feed_next(feed, 0, &change, $0) }) == TANSU_OK else { return nil }
            return try body(change)
        }
    }

    /// Skips all events that there are now.
    ///
    /// - Returns: The number of the last commit that was skipped, or 0 when there was none.
    @discardableResult
    func skip() throws -> Int {
        var sequence: UInt64 = 0
        _ = try handle.call { feed in try engineCall { tansu_feed_skip(feed, 0, &sequence, $0) } }
        return Int(clamping: sequence)
    }

    /// Cancels it, from any thread: a running read and later ones throw `.cancelled`.
    func cancel() {
        handle.cancel()
    }

    /// A mark for `signal.wait(after:)`, taken before reading.
    func mark() throws -> UInt64 {
        try signal.mark(engine)
    }
}

/// Closes a feed as soon as no iterator has it: the thread that read may retain the feed itself a little longer.
final class OwnedFeed: Sendable {
    let engine: EngineFeed

    init(_ engine: EngineFeed) {
        self.engine = engine
    }

    deinit {
        engine.close()
    }
}
