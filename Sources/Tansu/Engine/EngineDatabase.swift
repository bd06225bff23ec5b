import CTansu
import Foundation

/// The engine's open database, which ensures that no call uses the handle after it was closed.
///
/// `@unchecked Sendable`: the engine's handle may be used from any thread. Its state is accessed under `condition`
/// only, and calls are counted so that closing waits for running ones.
final class EngineDatabase: @unchecked Sendable {
    private enum State {
        case open(OpaquePointer)
        /// Waiting for running calls; new ones are rejected.
        case draining(OpaquePointer)
        /// The engine is closing it: nothing may use the handle.
        case closing
        case closed
    }

    private let condition = NSCondition()
    private var state: State
    private var runningCalls = 0
    /// Transactions, and cursors outside of them: the engine cannot close under these.
    private var openHandles = 0
    /// Records calls; `nil` when calls are not measured.
    let recorder: CallRecorder?
    /// Feeds, which closing closes.
    private var feeds: [ObjectIdentifier: EngineFeed.Handle] = [:]
    /// Wakes the tasks that wait for changes.
    let commits = CommitSignal()

    /// How long a write waits for the write lock, in milliseconds.
    let busyTimeout: UInt32

    init(_ handle: OpaquePointer, _ options: Database.Options) {
        state = .open(handle)
        recorder = CallRecorder(options)
        busyTimeout = options.busyTimeout.engineMilliseconds
    }

    /// Calls are rejected with `.closed`.
    var isClosed: Bool {
        condition.withLock {
            if case .open = state { return false }
            return true
        }
    }

    deinit {
        // No call is running, because cursors, transactions and feeds retain it. Only the thread that waits for commits
        // may not have ended yet, and the engine would defer closing until it does.
        commits.stop()
        if case .open(let handle) = state { tansu_close(handle) }
    }

    /// Runs `body` with the engine's handle, which stays open meanwhile. Throws `.closed` after closing.
    func call<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let handle = try enter()
        defer { leave() }
        return try body(handle)
    }

    /// Runs `body`, which opens a transaction or cursor; `end` must follow.
    func open<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try call { handle in
            let result = try body(handle)
            condition.withLock { openHandles += 1 }
            return result
        }
    }

    /// Runs `body`, which ends what `open` opened. It never fails: until then the database stays open.
    func end(_ body: () throws -> Void) rethrows {
        condition.withLock { runningCalls += 1 }
        defer {
            condition.withLock { openHandles -= 1 }
            leave()
        }
        try body()
    }

    /// A feed is open: it is closed with the database, unless it ends before.
    func adopt(_ feed: EngineFeed.Handle) {
        condition.withLock { feeds[ObjectIdentifier(feed)] = feed }
        commits.retain()
    }

    /// A feed ends, and is closed by its owner.
    func disown(_ feed: EngineFeed.Handle) {
        if condition.withLock({ feeds.removeValue(forKey: ObjectIdentifier(feed)) }) != nil { commits.release() }
    }

    /// How many feeds are open.
    var openFeeds: Int { condition.withLock { feeds.count } }

    /// Closes the database and all feeds; a second call does nothing. Throws `.busy` with open transactions or cursors:
    /// then nothing was closed.
    func close() throws {
        guard let handle = try drain() else { return }
        for feed in condition.withLock({ feeds.values.map { $0 } }) { feed.close() }
        commits.stop()
        var error = tansu_error()
        error.offset = -1
        let status = tansu_shutdown(handle, &error)
        change(to: status == TANSU_E_BUSY ? .open(handle) : .closed)
        if status != TANSU_OK { throw TansuError(status: status, error: error) }
    }

    /// Waits until no call is running and none can begin; `nil` when it is closed already.
    private func drain() throws -> OpaquePointer? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch state {
            case .open(let handle):
                // Checked first: a running call may be waiting for the open transaction.
                try rejectOpenHandles()
                state = .draining(handle)
                while runningCalls > 0 { condition.wait() }
                do {
                    try rejectOpenHandles()
                } catch {
                    state = .open(handle)
                    condition.broadcast()
                    throw error
                }
                state = .closing
                return handle
            case .draining, .closing: condition.wait()
            case .closed: return nil
            }
        }
    }

    private func rejectOpenHandles() throws {
        if openHandles > 0 {
            throw TansuError(.busy, "A transaction or cursor is open; end it, then close the database")
        }
    }

    private func change(to state: State) {
        condition.withLock {
            self.state = state
            condition.broadcast()
        }
    }

    private func enter() throws -> OpaquePointer {
        try condition.withLock {
            guard case .open(let handle) = state else {
                throw TansuError(.closed, "The database is closed; open it again to use it")
            }
            runningCalls += 1
            return handle
        }
    }

    private func leave() {
        condition.withLock {
            runningCalls -= 1
            if runningCalls == 0 { condition.broadcast() }
        }
    }
}
