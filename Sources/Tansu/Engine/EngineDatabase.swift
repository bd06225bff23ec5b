import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// The engine's open database, which ensures that no call uses the handle after it was closed.
///
/// `@unchecked Sendable`: the engine's handle may be used from any thread. Its state is accessed under `condition`
/// only, and calls are counted so that closing waits for running ones.
final class EngineDatabase: @unchecked Sendable {
    private enum State {
        case open(OpaquePointer)
        /// Waiting for running calls; new ones are rejected.
        case draining(OpaquePointer, Change)
        /// The engine is closing or opening it: nothing may use the handle.
        case changing(Change)
        case suspended(Place)
        case closed
    }

    private enum Change { case closing, suspending, resuming }

    /// Where a suspended database is opened again.
    private struct Place {
        let path: String
        let uuid: BSONValue?

        /// `nil` when nobody else is kept from it: it has no folder, or takes no lock.
        init?(_ handle: OpaquePointer, _ options: Database.Options) throws {
            let stats = try EngineDatabase.stats(handle)
            guard stats["store"] == "persistent", !options.allowWriter, let path = stats["path"]?.stringValue else {
                return nil
            }
            self.path = path
            uuid = stats["uuid"]
        }
    }

    /// Who keeps a transaction open, or a cursor outside of one.
    enum Holder: Sendable {
        /// A call of the library, which ends it, on the same thread: closing waits for the call.
        case call
        /// The user, who may keep it as long as he likes: closing throws `.busy`.
        case user
    }

    private let condition = NSCondition()
    private var state: State
    /// The thread of each running call; a thread is there several times when a call runs a closure that calls.
    private var callers: [UInt] = []
    /// Among them, a call that waits for a thread.
    private static let suspended: UInt = 0
    /// Transactions and cursors of the user: the engine cannot close under these.
    private var openHandles = 0
    /// Records calls; `nil` when calls are not measured.
    let recorder: CallRecorder?
    /// Feeds, which closing closes.
    private var feeds: [ObjectIdentifier: EngineFeed.Handle] = [:]
    /// Wakes the tasks that wait for changes.
    let commits = CommitSignal()

    /// How long a write waits for the write lock, in milliseconds.
    let busyTimeout: UInt32

    /// The options that it is opened with again, under the lock.
    private var options: Database.Options

    /// - Parameter recorder: The one that the engine was opened with.
    init(_ handle: OpaquePointer, _ options: Database.Options, _ recorder: CallRecorder?) {
        state = .open(handle)
        self.options = options
        self.recorder = recorder
        busyTimeout = options.busyTimeout.engineMilliseconds
        recorder?.engine = self
    }

    /// The database has another key now.
    func opensAgain(with key: DatabaseKey) {
        condition.withLock { options.key = key }
    }

    /// Calls are rejected with `.closed`.
    var isClosed: Bool {
        condition.withLock {
            switch state {
            case .draining(_, .closing), .changing(.closing), .closed: true
            case .open, .draining, .changing, .suspended: false
            }
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

    /// Runs `body` as `call` does; `nil` while the database is suspended.
    func callUnlessSuspended<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result? {
        guard let handle = try enterUnlessSuspended() else { return nil }
        defer { leave() }
        return try body(handle)
    }

    /// Runs `body`, which opens a transaction or cursor; `end` must follow, for `.call` within the same `call`.
    func open<Result>(for holder: Holder, _ body: (OpaquePointer) throws -> Result) throws -> Result {
        try call { handle in
            let result = try body(handle)
            guard holder == .user else { return result }
            condition.withLock {
                openHandles += 1
                // Closing that waits need wait no longer.
                condition.broadcast()
            }
            return result
        }
    }

    /// Runs `body`, which ends what `open` opened. It never fails: until then the database stays open.
    func end(for holder: Holder, _ body: () throws -> Void) rethrows {
        condition.withLock { callers.append(WorkerThread.current) }
        defer {
            if holder == .user {
                condition.withLock {
                    openHandles -= 1
                    // Suspending may be waiting for it.
                    condition.broadcast()
                }
            }
            leave()
        }
        try body()
    }

    /// The running call goes on after its end, in `resume` on any thread: closing waits for that, too.
    func suspend() {
        condition.withLock { callers.append(Self.suspended) }
    }

    /// Runs `body`, the rest of a call that was suspended.
    func resume<Result>(_ body: () throws -> Result) rethrows -> Result {
        condition.withLock {
            if let index = callers.firstIndex(of: Self.suspended) { callers[index] = WorkerThread.current }
        }
        defer { leave() }
        return try body()
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

    private func rejectOpenHandles() throws {
        if openHandles > 0 {
            throw TansuError(.busy, "A transaction or cursor is open; end it, then close or suspend the database")
        }
    }

    private func change(to state: State) {
        condition.withLock {
            self.state = state
            condition.broadcast()
        }
    }

    /// The engine's handle, which stays open until `leave()`, which must follow. Throws `.closed` after closing, and
    /// `.invalidState` while suspended.
    func enter() throws -> OpaquePointer {
        guard let handle = try enterUnlessSuspended() else {
            throw TansuError(.invalidState, "The database is suspended; resume it to use it")
        }
        return handle
    }

    private func enterUnlessSuspended() throws -> OpaquePointer? {
        try condition.withLock {
            let thread = WorkerThread.current
            switch state {
            case .open(let handle):
                callers.append(thread)
                return handle
            // A part of a call that closing waits for.
            case .draining(let handle, _) where callers.contains(thread):
                callers.append(thread)
                return handle
            case .draining(_, .suspending), .changing(.suspending), .changing(.resuming), .suspended: return nil
            case .draining, .changing, .closed:
                throw TansuError(.closed, "The database is closed; open it again to use it")
            }
        }
    }

    func leave() {
        condition.withLock {
            guard let index = callers.lastIndex(of: WorkerThread.current) else { return }
            callers.swapAt(index, callers.count - 1)
            callers.removeLast()
            if callers.isEmpty { condition.broadcast() }
        }
    }
}

// MARK: - Closing, suspending and resuming

extension EngineDatabase {
    /// Closes the database and all feeds, after running calls; a second call does nothing. Throws `.busy` with open
    /// transactions or cursors of the user, and inside a call: then nothing was closed.
    func close() throws {
        let handle = try drain(for: .closing, until: nil)
        if handle == nil, !condition.withLock(closeSuspended) { return }
        for feed in condition.withLock({ feeds.values.map { $0 } }) { feed.close() }
        commits.stop()
        guard let handle else { return }
        var error = tansu_error.none
        let status = tansu_shutdown(handle, &error)
        change(to: status == TANSU_E_BUSY ? .open(handle) : .closed)
        if status != TANSU_OK { throw TansuError(status: status, error: error) }
    }

    /// Under the lock: closes the database if it is suspended.
    private func closeSuspended() -> Bool {
        guard case .suspended = state else { return false }
        state = .closed
        condition.broadcast()
        return true
    }

    /// Closes the engine's database, which is opened again by `resume()`, where its folder is locked. Throws as `close()`.
    ///
    /// - Parameter deadline: Until then it waits for open transactions and cursors.
    func suspend(until deadline: Date) throws {
        let options = condition.withLock { self.options }
        guard !isClosed, let place = try callUnlessSuspended({ try Place($0, options) }) ?? nil,
            let handle = try drain(for: .suspending, until: deadline)
        else { return }
        let open = condition.withLock { feeds.values.map { $0 } }
        for feed in open { feed.suspend() }
        commits.stop()
        var error = tansu_error.none
        let status = tansu_shutdown(handle, &error)
        if status == TANSU_E_BUSY { for feed in open { feed.resume(handle) } }
        change(to: status == TANSU_E_BUSY ? .open(handle) : .suspended(place))
        if status == TANSU_E_BUSY { commits.wake() }
        if status != TANSU_OK { throw TansuError(status: status, error: error) }
    }

    /// Opens a suspended database again; does nothing to another one. When it fails, the database stays suspended.
    func resume() throws {
        guard let place = try beginResuming() else { return }
        let handle: OpaquePointer
        do { handle = try open(place) } catch {
            change(to: .suspended(place))
            throw error
        }
        for feed in condition.withLock({ feeds.values.map { $0 } }) { feed.resume(handle) }
        change(to: .open(handle))
        commits.wake()
    }

    /// `nil` when it is open. Throws `.closed`.
    private func beginResuming() throws -> Place? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch state {
            case .open: return nil
            case .draining, .changing: condition.wait()
            case .suspended(let place):
                state = .changing(.resuming)
                return place
            case .closed: throw TansuError(.closed, "The database is closed; open it again to use it")
            }
        }
    }

    private func open(_ place: Place) throws -> OpaquePointer {
        var options = condition.withLock { self.options }
        options.mustExist = true
        let handle = try Self.open(.persistent(path: place.path), options, recorder)
        guard try Self.stats(handle)["uuid"] == place.uuid else {
            tansu_close(handle)
            throw TansuError(
                .moved, "Another database has taken the place of the one that was suspended; open it",
                context: place.path)
        }
        return handle
    }

    /// Waits until no call is running and none can begin; `nil` when it is closed or suspended already.
    ///
    /// - Parameter deadline: Until then it waits for open transactions and cursors of the user.
    private func drain(for change: Change, until deadline: Date?) throws -> OpaquePointer? {
        condition.lock()
        defer { condition.unlock() }
        // Whoever else is closing waits for this call, too.
        if callers.contains(WorkerThread.current) {
            throw TansuError(.busy, "A call cannot close the database that it runs in; close it after the call")
        }
        while true {
            switch state {
            case .open(let handle):
                if openHandles > 0, let deadline, condition.wait(until: deadline) { continue }
                // A running call may be waiting for the open transaction, which may also begin while this waits.
                try rejectOpenHandles()
                state = .draining(handle, change)
                while !callers.isEmpty && openHandles == 0 { condition.wait() }
                do {
                    try rejectOpenHandles()
                } catch {
                    state = .open(handle)
                    condition.broadcast()
                    if let deadline, deadline > Date() { continue }
                    throw error
                }
                state = .changing(change)
                return handle
            case .draining, .changing: condition.wait()
            case .suspended, .closed: return nil
            }
        }
    }
}
