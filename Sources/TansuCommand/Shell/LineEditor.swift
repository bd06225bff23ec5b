import Foundation

/// Reads lines that a user types, with editing, history and completion where libedit is installed, or the lines of a
/// script.
final class LineEditor {
    enum Input: Equatable {
        case line(String)
        /// Ctrl-C while a line was typed.
        case interrupted
        /// Ctrl-D, or the end of the script.
        case end
    }

    private let editing: Editing?
    private let history: ShellHistory?
    private var lines: LineReader?

    /// - Parameters:
    ///   - isInteractive: Whether there is a user at a terminal.
    ///   - history: The file that keeps what was typed, if it is to be kept.
    ///   - complete: The words that may stand for the last one of a text: the whole text before the cursor, and that word.
    init(
        isInteractive: Bool, source: any ByteSource, history: ShellHistory?,
        complete: @escaping (_ text: String, _ word: String) -> [String]
    ) {
        editing = isInteractive ? try? Editing(complete) : nil
        self.history = history
        if editing == nil { lines = LineReader(source, limit: 64 << 20) }
        for line in editing == nil ? [] : history?.lines() ?? [] { editing?.remember(line) }
    }

    /// Reads a line.
    /// - Parameter prompt: What is shown before it; nil in a script.
    func read(prompt: String?) throws -> Input {
        if prompt != nil { ShellInterrupt.clear() }
        if let editing { return editing.read(prompt ?? "") }
        if let prompt {
            let writer = OutputWriter()
            try writer.write(prompt)
            try writer.flush()
        }
        switch try lines?.next() {
        case .text(let bytes):
            guard let text = String(utf8: bytes) else {
                throw CommandError(code: "INVALID_JSON", message: "The line is not valid UTF-8")
            }
            return .line(text)
        case .tooLong: throw CommandError(code: "TOO_LARGE", message: "The line is longer than 64 MiB")
        case nil: return .end
        }
    }

    /// Adds a statement, its lines as one, to the history.
    func remember(_ statement: String) {
        let line = statement.trimmingSpaces
        guard !line.isEmpty, ShellHistory.mayKeep(line), let editing else { return }
        editing.remember(line)
        history?.append(line)
    }
}

/// The interface of readline, as libedit has it.
private final class Editing {
    private typealias Completion = @convention(c) (UnsafePointer<CChar>?, CInt, CInt) -> Matches?
    private typealias Matches = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    private let readLine: @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private let addHistory: @convention(c) (UnsafePointer<CChar>) -> CInt

    /// What the callback of libedit asks, which has no context of its own.
    nonisolated(unsafe) private static var complete: (_ text: String, _ word: String) -> [String] = { _, _ in [] }
    nonisolated(unsafe) private static var lineBuffer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    nonisolated(unsafe) private static var isOver: UnsafeMutablePointer<CInt>?

    init(_ complete: @escaping (_ text: String, _ word: String) -> [String]) throws {
        let library = try DynamicLibrary(
            ["libedit.so.2", "libedit.so.0", "libedit.3.dylib", "libedit.dylib", "/usr/lib/libedit.3.dylib"],
            package: "libedit2")
        readLine = try library.symbol(
            "readline", as: (@convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?).self)
        addHistory = try library.symbol("add_history", as: (@convention(c) (UnsafePointer<CChar>) -> CInt).self)
        let initialize = try library.symbol("rl_initialize", as: (@convention(c) () -> CInt).self)
        // libedit takes bytes for characters of the locale.
        setlocale(LC_CTYPE, "")
        if String(cString: nl_langinfo(CInt(CODESET))).asciiLowercased != "utf-8" { setlocale(LC_CTYPE, "C.UTF-8") }
        // Ctrl-C ends the reading of a line, instead of being handled by libedit.
        try library.symbol("rl_catch_signals", as: UnsafeMutablePointer<CInt>.self).pointee = 0
        Self.complete = complete
        Self.lineBuffer = try library.symbol(
            "rl_line_buffer", as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self)
        Self.isOver = try library.symbol("rl_attempted_completion_over", as: UnsafeMutablePointer<CInt>.self)
        let function = try library.symbol(
            "rl_attempted_completion_function", as: UnsafeMutablePointer<Completion?>.self)
        function.pointee = { word, start, end in Editing.matches(word, start, end) }
        for name in ["rl_basic_word_break_characters", "rl_completer_word_break_characters"] {
            let characters = try library.symbol(name, as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self)
            // It is the library's from now on.
            characters.pointee = strdup(" \t\n{}[]()\"',:;")
        }
        _ = initialize()
    }

    func read(_ prompt: String) -> LineEditor.Input {
        guard let text = readLine(prompt) else {
            let isInterrupted = ShellInterrupt.isRequested
            try? printLine(isInterrupted ? "^C" : "")
            return isInterrupted ? .interrupted : .end
        }
        defer { free(text) }
        // Ctrl-C just before the line was read is not for the statement.
        ShellInterrupt.clear()
        return .line(String(cString: text))
    }

    func remember(_ line: String) { _ = addHistory(line) }

    private static func matches(_ word: UnsafePointer<CChar>?, _ start: CInt, _ end: CInt) -> Matches? {
        // Otherwise libedit would complete names of files.
        isOver?.pointee = 1
        guard let word, let line = lineBuffer?.pointee else { return nil }
        let text = String(decoding: String(cString: line).utf8.prefix(Int(end)), as: UTF8.self)
        let prefix = String(cString: word)
        let found = complete(text, prefix).filter { $0.hasPrefix(prefix) }
        guard let first = found.first else { return nil }
        // The first entry is what all have in common.
        let common = found.dropFirst().reduce(Array(first.utf8)) { common, next in
            Array(zip(common, next.utf8).prefix { $0 == $1 }.map(\.0))
        }
        let entries = [String(decoding: common, as: UTF8.self)] + (found.count == 1 ? [] : found)
        let list = calloc(entries.count + 1, MemoryLayout<UnsafeMutablePointer<CChar>?>.stride)
        guard let matches = list?.bindMemory(to: UnsafeMutablePointer<CChar>?.self, capacity: entries.count + 1) else {
            return nil
        }
        for (index, entry) in entries.enumerated() { matches[index] = strdup(entry) }
        return matches
    }
}
