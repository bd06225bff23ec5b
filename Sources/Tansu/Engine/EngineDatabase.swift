import CTansu
import Foundation

/// The engine's open database, and the guard that no call uses it after it was closed.
///
/// `@unchecked Sendable`: the engine's handle may be used from any thread; whether it is still there is
/// known under `condition` only, and calls are counted so that closing waits for those under way.
final class EngineDatabase: @unchecked Sendable {
    private enum State {
        case open(OpaquePointer)
        /// Asked to close: new calls are refused, those under way are waited for.
        case draining(OpaquePointer)
        /// The engine is closing it: nothing may use the handle.
        case closing
        case closed
    }

    private let condition = NSCondition()
    private var state: State
    private var callsUnderWay = 0
    /// Transactions, and cursors outside of them: the engine cannot close under these.
    private var openHandles = 0
    /// What measures calls; `nil` when nobody wants to know.
    let instruments: Instruments?
    /// Feeds, which closing closes.
    private var feeds: [ObjectIdentifier: EngineFeed.Handle] = [:]
    /// Tells those who wait for changes.
    let commits = CommitSignal()

    init(_ handle: OpaquePointer, _ instruments: Instruments?) {
        state = .open(handle)
        self.instruments = instruments
    }

    deinit {
        // Nobody else holds it, so nobody is inside a call; cursors, transactions and feeds hold it themselves. Only
        // the thread that waited for commits may not have ended yet, and the engine would close when it does.
        commits.stop()
        if case .open(let handle) = state { tansu_close(handle) }
    }

    /// Runs `body` with the engine's handle, which stays open meanwhile. Throws `.closed` otherwise.
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

    /// Runs `body`, which ends what `open` opened. It is never refused: until then the database stays open.
    func end(_ body: () throws -> Void) rethrows {
        condition.withLock { callsUnderWay += 1 }
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

    /// A feed ends, and is closed by who has it.
    func disown(_ feed: EngineFeed.Handle) {
        if condition.withLock({ feeds.removeValue(forKey: ObjectIdentifier(feed)) }) != nil { commits.release() }
    }

    /// How many feeds are open.
    var openFeeds: Int { condition.withLock { feeds.count } }

    /// Closes, with all feeds. Harmless when closed already. Throws `.busy` with transactions or cursors open: then
    /// nothing was closed.
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

    /// Waits until no call is under way and none can begin; `nil` when there is nothing left to close.
    private func drain() throws -> OpaquePointer? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch state {
            case .open(let handle):
                // Asked first: a call under way may be waiting for the very transaction that is open.
                try refuseOpenHandles()
                state = .draining(handle)
                while callsUnderWay > 0 { condition.wait() }
                do {
                    try refuseOpenHandles()
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

    private func refuseOpenHandles() throws {
        if openHandles > 0 {
            throw TansuError(.busy, "a transaction or cursor is open; end it, then close the database")
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
                throw TansuError(.closed, "the database is closed; open it again to use it")
            }
            callsUnderWay += 1
            return handle
        }
    }

    private func leave() {
        condition.withLock {
            callsUnderWay -= 1
            if callsUnderWay == 0 { condition.broadcast() }
        }
    }
}
