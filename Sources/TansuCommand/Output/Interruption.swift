import Dispatch
import Foundation

/// Ctrl-C, and the signal by which a program is asked to end, during a command that ends in an orderly way: it removes
/// what is incomplete and says what was kept.
///
/// The operation asks `check()` regularly. A second signal ends the process at once, and removes what `removing(_:_:)` names.
enum Interruption {
    private final class State: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0
        private var incomplete: String?

        /// Notes a signal and returns how many there were.
        func note() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }

        /// The file or folder that is being written.
        var incompletePath: String? {
            get { lock.withLock { incomplete } }
            set { lock.withLock { incomplete = newValue } }
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

    /// Runs an operation that writes a file or folder, which nobody misses when the process ends meanwhile.
    static func removing<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
        state.incompletePath = path
        defer { state.incompletePath = nil }
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
            guard state.note() > 1 else { return }
            // What is still written goes on until the process ends.
            if let path = state.incompletePath {
                for _ in 0..<3 { try? FileManager.default.removeItem(atPath: path) }
            }
            _exit(CommandExitCode.interrupted.rawValue)
        }
        source.resume()
        return source
    }
}
