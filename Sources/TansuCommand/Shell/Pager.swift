import Foundation

/// Shows text on a terminal: at once when it fits on the screen, otherwise through `$PAGER` or `less`.
final class Pager {
    private let terminal: Terminal
    private let command: String?
    private var held: [UInt8] = []
    private var lines = 0
    private var pipe: UnsafeMutablePointer<FILE>?
    /// Whether the user has ended the pager before the end of the text.
    private var isLeft = false

    init(terminal: Terminal, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.terminal = terminal
        command = Self.command(environment)
    }

    /// The command line of the pager, or nil when there is none.
    static func command(_ environment: [String: String]) -> String? {
        if environment["TERM"] == "dumb" { return nil }
        if let pager = environment["PAGER"] { return pager.isEmpty || pager == "cat" ? nil : pager }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/less") } ? "less -FRX" : nil
    }

    func add(_ bytes: [UInt8]) throws {
        if isLeft { throw Self.left }
        if let pipe { return try write(bytes, to: pipe) }
        held += bytes
        // Long lines take several on the screen. `less -F` ends at once when it is less than a screen after all.
        lines += bytes.count { $0 == UInt8(ascii: "\n") } + bytes.count / (terminal.width ?? 80)
        guard let command, let height = terminal.height, lines >= height - 1 else {
            return lines > 10_000 ? try writeHeld() : ()
        }
        // A pager that shows colors although nobody has asked it to.
        setenv("LESS", "FRX", 0)
        guard let opened = popen(command, "w") else { return try writeHeld() }
        pipe = opened
        try write(held, to: opened)
        held = []
    }

    /// Shows what is left, and waits until the user has seen it.
    func finish() throws {
        guard let pipe else { return try writeHeld() }
        pclose(pipe)
        self.pipe = nil
    }

    private func writeHeld() throws {
        defer { held = [] }
        let writer = OutputWriter()
        try writer.write(bytes: held)
        try writer.flush()
    }

    private func write(_ bytes: [UInt8], to pipe: UnsafeMutablePointer<FILE>) throws {
        guard fwrite(bytes, 1, bytes.count, pipe) == bytes.count, fflush(pipe) == 0 else {
            isLeft = true
            throw Self.left
        }
    }

    /// The error by which a statement ends whose results nobody wants to see.
    static let left = CommandError(code: "PAGER_LEFT", message: "The pager was left")
}
