import Foundation
import TansuBSON

/// Ctrl-C in the shell: it ends the running statement or the line that is being typed, and not the shell.
enum ShellInterrupt {
    /// Written by the handler of the signal, which may do little else.
    nonisolated(unsafe) private static var pipe: (reading: CInt, writing: CInt) = (-1, -1)
    /// How often Ctrl-C was pressed since `clear()`.
    nonisolated(unsafe) private static let count = {
        let count = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
        count.initialize(to: 0)
        return count
    }()
    private static let state = Locked(State())

    private struct State {
        var cancel: (@Sendable () -> Void)?
        /// Whether a statement runs that cannot be cancelled.
        var isStuck = false
        /// Whether the waiting for the next line of a script ends as well.
        var endsScript = false
    }

    /// From now on Ctrl-C is the shell's.
    /// - Parameter endsScript: Whether it ends the shell, as in a script, also while that waits for its next line.
    static func install(endsScript: Bool) {
        state.withLock { $0.endsScript = endsScript }
        var ends: [CInt] = [-1, -1]
        guard pipe.reading < 0, Foundation.pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipe = (ends[0], ends[1])
        clear()
        var action = sigaction()
        #if canImport(Darwin)
        action.__sigaction_u.__sa_handler = { _ in ShellInterrupt.note() }
        #else
        action.__sigaction_handler.sa_handler = { _ in ShellInterrupt.note() }
        #endif
        // Without SA_RESTART: the reading of a line ends.
        sigaction(SIGINT, &action, nil)
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let got = read(pipe.reading, &byte, 1)
                if got == 1 { request() } else if got == 0 || errno != EINTR { return }
            }
        }
        // The signal goes to the thread that reads the line, which may have it blocked from its parent; the new one has
        // it blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        thread.start()
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func note() {
        let number = errno
        count.pointee += 1
        var byte: UInt8 = 1
        _ = write(pipe.writing, &byte, 1)
        errno = number
    }

    private static func request() {
        let (cancel, isStuck, endsScript) = state.withLock { ($0.cancel, $0.isStuck, $0.endsScript) }
        cancel?()
        if endsScript { Interruption.request() }
        guard isStuck else { return }
        if count.pointee > 1 { _exit(CommandExitCode.interrupted.rawValue) }
        writeError("tansu: This command cannot be cancelled; press Ctrl-C again to end the shell")
    }

    /// Whether Ctrl-C was pressed since `clear()`.
    static var isRequested: Bool { count.pointee > 0 }

    static func clear() { count.pointee = 0 }

    /// - Throws: `CommandError` when Ctrl-C was pressed.
    static func check() throws {
        guard isRequested else { return }
        throw CommandError(
            code: "CANCELLED", message: "The statement was cancelled", status: .interrupted)
    }

    /// Runs a statement.
    /// - Parameter cancel: What ends it, from another thread; nil when nothing does.
    static func during<Result>(cancel: (@Sendable () -> Void)?, _ body: () throws -> Result) rethrows -> Result {
        state.withLock { state in
            state.cancel = cancel
            state.isStuck = cancel == nil
        }
        defer {
            state.withLock { state in
                state.cancel = nil
                state.isStuck = false
            }
        }
        // Ctrl-C may have come just before.
        if isRequested { cancel?() }
        return try body()
    }
}
