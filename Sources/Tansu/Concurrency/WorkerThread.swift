import Foundation

/// Threads of the library. Not `Thread`: it hides that the system could not start one, and what the thread was for would
/// never be done.
enum WorkerThread {
    /// What a thread runs, in a class, because C passes on a pointer.
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// A decoder goes as deep as its document is nested, for which the 512 KiB of macOS are little.
    private static let stackBytes = 4 << 20

    /// The identity of the calling thread, which no other thread has while it runs.
    static var current: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    /// Starts a thread that runs `body` and ends.
    ///
    /// - Parameters:
    ///   - name: The name that it has in a debugger.
    ///   - body: What it runs.
    /// - Throws: ``TansuError`` with `.memory` when the system cannot start one.
    @Sendable static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        var attributes = pthread_attr_t()
        try check(pthread_attr_init(&attributes))
        defer { pthread_attr_destroy(&attributes) }
        try check(pthread_attr_setstacksize(&attributes, stackBytes))
        try check(pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        // The new thread releases it; without one, this function does.
        let work = Unmanaged.passRetained(Work(name, body))
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                WorkerThread.run(argument)
                return nil
            }, work.toOpaque())
        if code != 0 { work.release() }
        try check(code)
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) {
        guard let argument else { return }
        let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        Thread.current.name = work.name
        work.body()
    }

    private static func check(_ code: Int32) throws {
        guard code != 0 else { return }
        throw TansuError(
            .memory, "The system cannot start another thread; raise its limit of threads, or make fewer calls at once",
            systemErrno: code)
    }
}
