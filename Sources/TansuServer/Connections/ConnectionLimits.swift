#if TansuServer
import NIOCore

/// What a connection needs of the server's limits, as NIO's types.
struct ConnectionLimits: Sendable {
    let headBytes: Int
    let requestBytes: Int
    let readTimeout: TimeAmount
    let idleTimeout: TimeAmount
    /// The time that a client has to take what was written, and to see why its connection ends.
    let lingerTime = TimeAmount.seconds(2)
    /// A body may be slower than the read timeout allows as long as its average is not below this.
    let minimumBytesPerSecond: Int64 = 1_024

    init(_ limits: ServerLimits) {
        headBytes = limits.headBytes
        requestBytes = max(limits.requestBytes, limits.attachmentBytes)
        readTimeout = TimeAmount(limits.readTimeout)
        idleTimeout = TimeAmount(limits.idleTimeout)
    }

    /// How long a server may have waited for a body of which `received` bytes have come.
    func bodyTime(received: Int) -> TimeAmount {
        readTimeout + .milliseconds(Int64(received) * 1_000 / minimumBytesPerSecond)
    }
}

/// Runs tasks on the event loop of a connection, so that a request that is answered at once is answered by the thread that
/// has read it: to wake another thread and come back takes longer than most such requests.
@available(macOS 15, *)
private final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Where tasks of a connection run. On older systems all of them run on the threads of Swift's pool.
enum ConnectionTasks {
    /// Runs them on the event loop.
    static func run(on loop: any EventLoop, _ body: () async -> Void) async {
        guard #available(macOS 15, *) else { return await body() }
        await withTaskExecutorPreference(EventLoopExecutor(loop), operation: body)
    }

    /// Runs what may take long on Swift's pool, so that the other connections of the event loop do not wait for it.
    static func runAside<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard #available(macOS 15, *) else { return try await body() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor, operation: body)
    }
}
#endif
