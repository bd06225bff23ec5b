import CTansu
import Foundation

/// Tells tasks that something was committed, with one thread for all that wait in a database.
///
/// The thread is there while feeds are, and waits inside the engine; a commit that nobody waits for costs nothing.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class CommitSignal: @unchecked Sendable {
    /// A feed for waiting, in a thread of its own.
    private final class Watch: @unchecked Sendable {
        let feed: OpaquePointer

        init(_ feed: OpaquePointer) {
            self.feed = feed
        }
    }

    private let condition = NSCondition()
    private var users = 0
    private var watch: Watch?
    /// Threads that have not closed their feed yet.
    private var threads = 0
    /// How often something was committed, or waiting made no sense any more.
    private var wakes: UInt64 = 0
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var cancelledTickets: Set<UInt64> = []
    private var lastTicket: UInt64 = 0

    /// One more feed will wait here.
    func retain() {
        condition.withLock { users += 1 }
    }

    /// One less; with the last the thread goes.
    func release() {
        condition.withLock {
            users -= 1
            if users == 0 { endWatch() }
        }
    }

    /// Ends the thread and waits for that; who waits is woken up.
    func stop() {
        condition.lock()
        endWatch()
        while threads > 0 { condition.wait() }
        condition.unlock()
        wake()
    }

    /// The moment from which on every commit ends a `wait(after:)`.
    func mark(_ engine: EngineDatabase) throws -> UInt64 {
        try condition.withLock {
            if watch == nil { try beginWatch(engine) }
            return wakes
        }
    }

    /// Suspends the task until something was committed after the moment, or the task is cancelled.
    func wait(after mark: UInt64) async {
        let ticket = condition.withLock {
            lastTicket += 1
            return lastTicket
        }
        defer { condition.withLock { _ = cancelledTickets.remove(ticket) } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = condition.withLock {
                    if wakes != mark || cancelledTickets.contains(ticket) { return true }
                    waiters[ticket] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = condition.withLock {
                cancelledTickets.insert(ticket)
                return waiters.removeValue(forKey: ticket)
            }
            waiter?.resume()
        }
    }

    /// How many tasks wait.
    var waitingTasks: Int { condition.withLock { waiters.count } }

    /// Whether a thread or its feed is left.
    var isIdle: Bool { condition.withLock { threads == 0 } }

    private func wake() {
        let woken = condition.withLock {
            wakes += 1
            defer { waiters.removeAll() }
            return waiters.values.map { $0 }
        }
        for waiter in woken { waiter.resume() }
    }

    /// Under the lock.
    private func beginWatch(_ engine: EngineDatabase) throws {
        var feed: OpaquePointer?
        try engine.call { database in
            _ = try engineCall { tansu_feed_open(database, UInt64.max, nil, 0, &feed, $0) }
            // Within the call: whoever closes the database waits for the thread.
            threads += 1
        }
        guard let feed else { return }
        let watch = Watch(feed)
        self.watch = watch
        let thread = Thread { [self] in
            while tansu_feed_skip(watch.feed, -1, nil, nil) == TANSU_OK { wake() }
            end(watch)
        }
        thread.name = "tansu commits"
        thread.start()
    }

    /// Under the lock.
    private func endWatch() {
        if let watch { tansu_feed_cancel(watch.feed) }
        watch = nil
    }

    private func end(_ watch: Watch) {
        condition.withLock {
            if self.watch === watch { self.watch = nil }
            tansu_feed_close(watch.feed)
            threads -= 1
            condition.broadcast()
        }
        wake()
    }
}
