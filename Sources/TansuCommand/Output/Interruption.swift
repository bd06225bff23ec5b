import Dispatch
import Foundation

/// Ctrl-C, and the signal by which a program is asked to end, during a command that ends in an orderly way: it removes
/// what is incomplete and says what was kept.
///
/// The operation asks `check()` regularly. A second signal ends the process at once.
enum Interruption {
    private final class State: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0

        /// Notes a signal and returns how many there were.
        func note() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }

        var isRequested: Bool { lock.withLock { count > 0 } }
    }

    private static let state = State()

    /// Runs an operation that asks `check()` regularly.
    static func handled<Result>(_ body: () throws -> Result) rethrows -> Result {
        let sources = [SIGINT, SIGTERM].map(source)
        defer { for source in sources { source.cancel() } }
        return try body()
    }

    /// - Throws: `CommandError` after the first signal.
    static func check() throws {
        guard state.isRequested else { return }
        throw CommandError(code: "INTERRUPTED", message: "The command was interrupted", status: .interrupted)
    }

    private static func source(of number: Int32) -> any DispatchSourceSignal {
        #if canImport(Darwin)
            // Otherwise the signal's default action comes before Dispatch.
            signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            if state.note() > 1 { _exit(CommandExitCode.interrupted.rawValue) }
        }
        source.resume()
        return source
    }
}
