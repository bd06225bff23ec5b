import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// A change stream of the engine: closed with the last reference, or with its database.
///
/// It never blocks: ``CommitSignal`` signals when there may be something to read.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a feed, which the handle's lock ensures.
final class EngineFeed: @unchecked Sendable {
    /// What happens to a feed when its database is resumed after it was suspended.
    enum Resumption {
        /// It goes on where it was. A commit of which events are left is delivered again from its beginning.
        case continued
        /// Nobody knows what was committed meanwhile: it begins again, and counts as touched.
        case touched
    }

    /// What is open in the engine; shared with the database, which suspends it and closes it with itself.
    final class Handle: @unchecked Sendable {
        private enum State {
            case open(OpaquePointer?)
            /// With the last commit that was delivered.
            case suspended(UInt64)
            case closed(TansuError)
        }

        private let options: BSONDocument
        private let resumption: Resumption
        private let lock = NSLock()
        private let interrupt = EngineInterrupt { tansu_feed_cancel($0) }
        private var state = State.suspended(0)
        private var isTouched = false

        init(_ options: BSONDocument, _ resumption: Resumption) {
            self.options = options
            self.resumption = resumption
        }

        /// Opens the engine's feed after that commit.
        func open(_ database: OpaquePointer, since number: UInt64) throws {
            try lock.withLock { try openLocked(database, since: number) }
        }

        private func openLocked(_ database: OpaquePointer, since number: UInt64) throws {
            var pointer: OpaquePointer?
            try options.withUnsafeBytes { options in
                _ = try engineCall { tansu_feed_open(database, number, tansu_document(options), &pointer, $0) }
            }
            state = .open(pointer)
            interrupt.begin(pointer)
        }

        /// Runs `body` on the engine's feed; `nil` while the database is suspended. Throws `.closed` when the feed was
        /// closed with its database, or what kept it from being resumed.
        func call<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result? {
            try lock.withLock {
                switch state {
                case .open(let pointer): return try body(pointer)
                case .suspended: return nil
                case .closed(let error): throw error
                }
            }
        }

        /// Whether something may have changed while the database was suspended, once.
        func takeTouched() -> Bool {
            lock.withLock {
                defer { isTouched = false }
                return isTouched
            }
        }

        func cancel() {
            interrupt.request()
        }

        func close() {
            end { _ in
                .closed(
                    TansuError(.closed, "The database is closed; open it again and continue from the last resume token")
                )
            }
        }

        /// Lets go of the engine's feed, and remembers where it was. What has failed to be resumed stays so.
        func suspend() {
            end { $0.map { .suspended(tansu_feed_position($0)) } }
        }

        /// Goes on in the database, which was opened again. What keeps it from that is thrown by the next call.
        func resume(_ database: OpaquePointer) {
            lock.withLock {
                guard case .suspended(let position) = state else { return }
                do {
                    switch resumption {
                    case .continued: try openLocked(database, since: position)
                    case .touched:
                        try openLocked(database, since: UInt64.max)
                        isTouched = true
                    }
                } catch {
                    state = .closed(error as? TansuError ?? TansuError(.invalidState, "\(error)"))
                }
            }
        }

        /// Closes the engine's feed, if it is open.
        ///
        /// - Parameter next: The state that follows; `nil` when it stays. It gets the feed while that is open.
        private func end(_ next: (OpaquePointer?) -> State?) {
            interrupt.end()
            lock.withLock {
                let pointer: OpaquePointer? = if case .open(let pointer) = state { pointer } else { nil }
                state = next(pointer) ?? state
                tansu_feed_close(pointer)
            }
        }
    }

    /// Signals when there may be something to read.
    let signal: CommitSignal
    private let engine: EngineDatabase
    private let handle: Handle

    /// Opens a feed.
    ///
    /// - Parameters:
    ///   - since: The number of the last commit that is not delivered; the newest when `nil`.
    ///   - options: The options of `tansu_feed_open()`.
    ///   - resumption: What happens to it when the database was suspended.
    init(_ engine: EngineDatabase, since: Int?, options: BSONDocument, resumption: Resumption = .touched) throws {
        self.engine = engine
        signal = engine.commits
        handle = Handle(options, resumption)
        if let since, since < 0 {
            throw TansuError(.invalidArgument, "The commit number is negative; pass a resume token or nil")
        }
        let number = since.map { UInt64($0) } ?? UInt64.max  // TANSU_FEED_NOW, a macro that Swift does not see
        try engine.call { database in
            try handle.open(database, since: number)
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

    /// Runs `body` on the next event, whose pointers are valid inside it only. `nil` when there is none now, also while the
    /// database is suspended.
    func next<Result>(_ body: (tansu_change) throws -> Result) throws -> Result? {
        try handle.call { feed in
            var change = tansu_change()
            tansu_change_init(&change)
            guard try engineCall({ tansu_feed_next(feed, 0, &change, $0) }) == TANSU_OK else { return nil }
            return try body(change)
        } ?? nil
    }

    /// The number of the last commit of which nothing is left to deliver; `nil` while the database is suspended.
    func position() throws -> Int? {
        try handle.call { Int(clamping: tansu_feed_position($0)) }
    }

    /// Skips all events that there are now.
    func skip() throws {
        _ = try handle.call { feed in try engineCall { tansu_feed_skip(feed, 0, nil, $0) } }
    }

    /// Runs `body` if an event is wanted, after all that there are now were skipped, and returns its result; `nil` if none
    /// is, also while the database is suspended. The database is not suspended between the two.
    func whenTouched<Result>(through isWanted: (EngineChange) -> Bool = { _ in true }, _ body: () throws -> Result)
        throws
        -> Result?
    {
        try engine.callUnlessSuspended { _ in
            // All that was committed so far is in what `body` reads.
            guard try handle.takeTouched() || skip(through: isWanted) else { return nil }
            try skip()
            return try body()
        } ?? nil
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

// MARK: - Change

/// A change event of the engine. The bytes of its documents are valid only during the call that delivers it.
struct EngineChange {
    /// What happened.
    enum Kind {
        case insert
        case update
        case remove
        case collectionCreated
        case collectionDropped
        case collectionRenamed(to: String)
        /// Of a newer engine.
        case unknown
    }

    let kind: Kind
    let collection: String
    let id: BSONValue?
    let sequence: Int
    let isLastOfCommit: Bool
    let before: UnsafeRawBufferPointer?
    let after: UnsafeRawBufferPointer?
}

extension EngineChange {
    fileprivate init(_ change: tansu_change) {
        kind = Kind(change)
        collection = String(cString: change.collection)
        id = change.id.data == nil ? nil : BSONDocument(trustedBytes: Array(change.id.bytes))["_id"]
        sequence = Int(clamping: change.sequence)
        isLastOfCommit = change.last != 0
        before = change.before.data == nil ? nil : change.before.bytes
        after = change.after.data == nil ? nil : change.after.bytes
    }
}

extension EngineChange.Kind {
    fileprivate init(_ change: tansu_change) {
        switch change.kind {
        case TANSU_CHANGE_INSERT: self = .insert
        case TANSU_CHANGE_UPDATE: self = .update
        case TANSU_CHANGE_REMOVE: self = .remove
        case TANSU_CHANGE_COLLECTION_CREATED: self = .collectionCreated
        case TANSU_CHANGE_COLLECTION_DROPPED: self = .collectionDropped
        case TANSU_CHANGE_COLLECTION_RENAMED:
            self = .collectionRenamed(to: change.new_name.map { String(cString: $0) } ?? "")
        default: self = .unknown
        }
    }
}

extension EngineFeed {
    /// Runs `body` on the next change event. `nil` when there is none now.
    func nextChange<Result>(_ body: (EngineChange) throws -> Result) throws -> Result? {
        try next { change in try body(EngineChange(change)) }
    }

    /// Whether there is an event that is wanted now; it and all before it are skipped.
    private func skip(through isWanted: (EngineChange) -> Bool) throws -> Bool {
        while let wasWanted = try nextChange(isWanted) {
            if wasWanted { return true }
        }
        return false
    }
}

// MARK: - EngineMatcher

/// A compiled query of the engine that is evaluated on single documents.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a matcher, which the lock ensures.
package final class EngineMatcher: @unchecked Sendable {
    private let lock = NSLock()
    private let handle: OpaquePointer

    /// Compiles a query. Throws `.invalidQuery`.
    package init(_ query: BSONDocument) throws {
        EnginePlatform.prepare()
        var handle: OpaquePointer?
        try query.withUnsafeBytes { bytes in
            _ = try engineCall { tansu_matcher_new(tansu_document(bytes), &handle, $0) }
        }
        guard let handle else { throw TansuError(.invalidState, "The engine returned no matcher") }
        self.handle = handle
    }

    deinit {
        tansu_matcher_free(handle)
    }

    /// Whether a document matches. Throws `.invalidQuery` when a regular expression needs too many steps.
    package func matches(_ document: BSONDocument) throws -> Bool {
        var matches: Int32 = 0
        try document.withUnsafeBytes { bytes in
            _ = try lock.withLock {
                try engineCall { tansu_matcher_ask(handle, tansu_document(bytes), &matches, $0) }
            }
        }
        return matches != 0
    }
}
