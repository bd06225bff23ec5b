import Foundation
import TansuBSON

/// A file of what an import rejected, in the format of its input, so that it can be mended and imported.
///
/// Before each text there is a line with its place and the reason, which an import skips. The file is created for the
/// first text.
final class RejectsFile {
    /// What a line with a place and a reason begins with.
    static let mark = Array("#tansu ".utf8)

    let path: String
    private let header: () -> [UInt8]?
    private var writer: OutputWriter?
    private var descriptor: Int32 = -1

    /// - Parameter header: Returns the header of a table.
    /// - Throws: `CommandError` when the file exists, or its folder cannot have it: not only when the first text is written.
    init(path: String, header: @escaping () -> [UInt8]?) throws {
        (self.path, self.header) = (path, header)
        try checkNewFile(path)
        let folder = (path as NSString).deletingLastPathComponent
        if access(folder.isEmpty ? "." : folder, W_OK) != 0 { throw cannotCreate("nothing was changed") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds a text, or only the reason where there is none.
    func add(_ rejected: ImportJob.RejectedDocument, place: String) throws {
        let writer = try self.writer ?? open()
        // A quote would begin a value of a table that does not end with the line.
        let reason = TextTable.printable("\(place): \(rejected.message)").utf8.map { $0 == .quote ? 0x27 : $0 }
        try writer.write(bytes: Self.mark + reason + [.newline])
        if let text = rejected.text, !text.isEmpty { try writer.write(bytes: text + [.newline]) }
    }

    private func cannotCreate(_ remedy: String = "") -> CommandError {
        CommandError(
            code: "IO", message: "Cannot create \"\(path)\": \(systemErrorText())", path: path, remedy: remedy,
            status: .cannotCreate)
    }

    private func open() throws -> OutputWriter {
        descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw cannotCreate() }
        let writer = OutputWriter(descriptor: descriptor)
        self.writer = writer
        if let header = header() { try writer.write(bytes: header + [.newline]) }
        return writer
    }

    /// Writes what was added.
    func flush() throws { try writer?.flush() }
}
