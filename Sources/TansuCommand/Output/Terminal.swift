import Dispatch
import Foundation

/// The properties of the terminal of a file descriptor.
struct Terminal: Sendable {
    /// Whether the descriptor is a terminal rather than a file or a pipe.
    let isInteractive: Bool
    /// The width in columns, or nil when the descriptor is not a terminal.
    let width: Int?
    /// The height in lines, or nil when it is not known.
    let height: Int?
    /// Whether bold text and colors are allowed.
    let allowsStyle: Bool

    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let error = Terminal(descriptor: STDERR_FILENO)

    init(isInteractive: Bool, width: Int?, height: Int? = nil, allowsStyle: Bool) {
        self.isInteractive = isInteractive
        self.width = width
        self.height = height
        self.allowsStyle = allowsStyle
    }

    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isInteractive = isatty(descriptor) == 1
        let plain = environment["TERM"] == "dumb" || !(environment["NO_COLOR"] ?? "").isEmpty
        allowsStyle = isInteractive && !plain
        var size = winsize()
        if isInteractive, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            width = Int(size.ws_col)
            height = size.ws_row > 0 ? Int(size.ws_row) : nil
        } else {
            width = isInteractive ? 80 : nil
            height = nil
        }
    }

    func bold(_ text: String) -> String { styled(text, "1") }
    func dim(_ text: String) -> String { styled(text, "2") }
    func green(_ text: String) -> String { styled(text, "32") }
    func cyan(_ text: String) -> String { styled(text, "36") }
    func yellow(_ text: String) -> String { styled(text, "33") }

    private func styled(_ text: String, _ code: String) -> String {
        allowsStyle ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// A question before something is removed that cannot be brought back.
enum Confirmation {
    /// Asks on a terminal. A script, whose input or errors are no terminal, is not asked.
    ///
    /// - Parameter yes: Whether the user has answered already.
    /// - Throws: `CommandError` when the answer is not yes.
    static func ask(_ question: String, yes: Bool) throws {
        guard !yes, isatty(STDIN_FILENO) == 1, Terminal.error.isInteractive else { return }
        let writer = OutputWriter(descriptor: STDERR_FILENO)
        try writer.write("\(TextTable.printable(question)) [y/N] ")
        try writer.flush()
        let answer = readLine()?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else {
            throw CommandError(
                code: "NOT_CONFIRMED", message: "The answer was not yes",
                remedy: "nothing was changed; \"--yes\" answers in advance", status: .incomplete)
        }
    }
}

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
    /// Whether the end of the terminal does not matter, as with `nohup`.
    private static let ignoresHangUp: Bool = {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        #if canImport(Darwin)
        let handler = action.__sigaction_u.__sa_handler
        #else
        let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }()

    /// Runs an operation that asks `check()` regularly.
    /// - Parameter cancel: What ends a part of it that does not ask, from another thread. When a second signal is needed
    ///   nevertheless, the user is told so.
    static func handled<Result>(cancel: (@Sendable () -> Void)? = nil, _ body: () throws -> Result) rethrows -> Result {
        let sources = ([SIGINT, SIGTERM] + (ignoresHangUp ? [] : [SIGHUP])).map { source(of: $0, cancel) }
        defer { for source in sources { source.cancel() } }
        return try body()
    }

    /// Runs an operation that writes a file or folder, which nobody misses when the process ends meanwhile.
    static func removing<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
        state.incompletePath = path
        defer { state.incompletePath = nil }
        return try body()
    }

    /// Ends operations as a signal does.
    static func request() { _ = state.note() }

    /// - Throws: `CommandError` after the first signal.
    static func check() throws {
        guard state.isRequested else { return }
        throw CommandError(code: "INTERRUPTED", message: "The command was interrupted", status: .interrupted)
    }

    private static func source(of number: Int32, _ cancel: (@Sendable () -> Void)?) -> any DispatchSourceSignal {
        #if canImport(Darwin)
        // Otherwise the signal's default action comes before Dispatch.
        signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            guard state.note() > 1 else {
                guard let cancel else { return }
                cancel()
                DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
                    writeError("tansu: The running command cannot be cancelled; press Ctrl-C again to end at once")
                }
                return
            }
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

/// The name by which the user runs this program, so that printed commands can be copied.
enum ProgramName {
    /// "tansu" when the shell finds this program by that name, otherwise the shortest path from the current folder.
    static func current() -> String {
        let environment = ProcessInfo.processInfo.environment
        let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return name(
            executable: executable, searchPath: environment["PATH"] ?? "",
            folder: FileManager.default.currentDirectoryPath)
    }

    static func name(executable: String, searchPath: String, folder: String) -> String {
        let real = resolved(executable)
        for entry in searchPath.split(separator: ":") {
            let candidate = "\(entry)/tansu"
            if FileManager.default.isExecutableFile(atPath: candidate) {
                // The shell runs the first match.
                if resolved(candidate) == real { return "tansu" }
                break
            }
        }
        // `swift run` starts .build/<machine>/release/tansu, and .build/release is a link to that folder.
        for configuration in ["release", "debug"] {
            let short = ".build/\(configuration)/tansu"
            if resolved("\(folder)/\(short)") == real { return short }
        }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let isBelow = executable.hasPrefix(prefix)
        return shellQuoted(
            isBelow ? "./" + executable.dropFirst(prefix.count) : executable)
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}

/// A word in the form that a shell takes as one argument: in single quotes unless all its characters are safe.
func shellQuoted(_ word: String) -> String {
    let isSafe = word.unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            || "/._-+,:@%".unicodeScalars.contains(scalar)
    }
    if isSafe, !word.isEmpty { return word }
    return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
}
