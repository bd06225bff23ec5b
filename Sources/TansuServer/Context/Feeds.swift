#if TansuServer
import NIOCore
import TansuBSON

/// The open feeds of a server: how many there are, and their end when the server stops.
final class Feeds: Sendable {
    private struct State {
        var isEnding = false
        var nextID = 0
        /// Of each open feed, what ends its wait; nil while it does not wait.
        var waits: [Int: AsyncStream<Feed.Event>.Continuation?] = [:]
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// How many are open.
    var count: Int { state.withLock { $0.waits.count } }

    /// Opens a feed for a request, which holds it until it is released.
    ///
    /// - Throws: ``HTTPFailure`` with 503 when there are too many, or the server is stopping.
    func open(for channel: (any Channel)? = nil) throws -> Feed {
        let id = try state.withLock { state in
            guard !state.isEnding else { throw HTTPFailure.overloaded("The server is stopping") }
            guard state.waits.count < limit else { throw HTTPFailure.overloaded("Too many open feeds") }
            state.nextID += 1
            state.waits[state.nextID] = .some(nil)
            return state.nextID
        }
        let feed = Feed(id: id, feeds: self)
        channel?.triggerUserOutboundEvent(FeedOpened(), promise: nil)
        channel?.closeFuture.whenComplete { [weak feed] _ in feed?.clientLeft() }
        return feed
    }

    /// Ends the waits of all feeds, now and later.
    func end() {
        let waits = state.withLock { state in
            state.isEnding = true
            return state.waits.values.compactMap { $0 }
        }
        for wait in waits { wait.yield(.serverStopping) }
    }

    fileprivate func close(_ id: Int) { _ = state.withLock { $0.waits.removeValue(forKey: id) } }

    fileprivate func setWait(_ id: Int, _ wait: AsyncStream<Feed.Event>.Continuation?) {
        let isEnding = state.withLock { state in
            state.waits[id] = .some(wait)
            return state.isEnding
        }
        if isEnding { wait?.yield(.serverStopping) }
    }

    fileprivate func notify(_ id: Int, _ event: Feed.Event) {
        (state.withLock { $0.waits[id] } ?? nil)?.yield(event)
    }
}

/// An open feed of one request.
final class Feed: Sendable {
    /// Why a wait has ended.
    enum Event: Sendable {
        /// What was waited for has come.
        case changed
        /// The time is over.
        case timedOut
        /// The client has closed the connection: nobody reads what is written any more.
        case clientLeft
        /// The server stops: write the end of the feed and return.
        case serverStopping
    }

    private let id: Int
    private let feeds: Feeds
    private let hasLeft = Locked(false)

    fileprivate init(id: Int, feeds: Feeds) {
        self.id = id
        self.feeds = feeds
    }

    deinit { feeds.close(id) }

    /// Waits until `change` returns, but at most `timeout`, and not longer than the client and the server live. `change` is
    /// cancelled when another event comes first.
    func wait(
        timeout: Duration? = nil, for change: @escaping @Sendable () async throws -> Void
    ) async throws -> Event {
        let (events, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingOldest(1))
        feeds.setWait(id, continuation)
        defer { feeds.setWait(id, nil) }
        if hasLeft.withLock({ $0 }) { return .clientLeft }
        return try await withThrowingTaskGroup(of: Event?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await change()
                return .changed
            }
            group.addTask { await events.first { _ in true } }
            if let timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return .timedOut
                }
            }
            while let event = try await group.next() {
                if let event { return event }
            }
            throw CancellationError()
        }
    }

    /// Waits until `change` returns, with a heartbeat after each interval without.
    ///
    /// - Parameters:
    ///   - interval: Between heartbeats; nil when there are none.
    ///   - timeout: The longest wait without heartbeats.
    /// - Returns: False when the feed ends instead.
    /// - Throws: `CancellationError` when the client has left; what the closures throw.
    func waits(
        heartbeatEvery interval: Duration?, timeout: Duration?, _ change: @escaping @Sendable () async throws -> Void,
        heartbeat: () async throws -> Void
    ) async throws -> Bool {
        while true {
            switch try await wait(timeout: interval ?? timeout, for: change) {
            case .changed: return true
            case .clientLeft: throw CancellationError()
            case .serverStopping: return false
            case .timedOut:
                if interval == nil { return false }
                try await heartbeat()
            }
        }
    }

    fileprivate func clientLeft() {
        hasLeft.withLock { $0 = true }
        feeds.notify(id, .clientLeft)
    }
}

/// Sent to the connection of a request that becomes a feed: its end is the end of the client's interest.
struct FeedOpened: Sendable {}

#endif
