import Foundation

/// The file that keeps what was typed in shells, one statement a line.
struct ShellHistory {
    private let path: String
    /// How many statements are offered, and kept when the file has twice as many.
    private static let limit = 1000

    init(path: String) { self.path = path }

    /// The file of the user, as the XDG rules have it; nil without a home.
    static func ofUser(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> ShellHistory? {
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return ShellHistory(path: folder + "/tansu/history")
        }
        return environment["HOME"].flatMap { $0.isEmpty ? nil : ShellHistory(path: $0 + "/.local/state/tansu/history") }
    }

    /// Whether a statement may be kept: it has no key, passphrase or password.
    static func mayKeep(_ statement: String) -> Bool {
        let text = statement.asciiLowercased
        return !["passphrase", "password", "\"key\"", "key:", "'key'", "rekey"].contains { text.utf8.contains($0.utf8) }
    }

    /// The newest statements, the oldest of them first.
    func lines() -> [String] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        let newest = lines.suffix(Self.limit).map(String.init)
        if lines.count > 2 * Self.limit { replace(by: newest) }
        return newest
    }

    /// Adds a statement. A history that cannot be kept is no reason to disturb the user.
    func append(_ line: String) {
        let folder = (path as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let writer = OutputWriter(descriptor: descriptor)
        try? writer.writeLine(line)
        try? writer.flush()
    }

    private func replace(by lines: [String]) {
        let new = "\(path).\(getpid())"
        let text = lines.map { $0 + "\n" }.joined()
        let isWritten = FileManager.default.createFile(
            atPath: new, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        if isWritten, rename(new, path) != 0 { unlink(new) }
    }
}
