import Foundation

/// A file or standard input.
final class FileSource: ByteSource {
    /// The name for messages.
    let name: String
    private let descriptor: Int32
    private let size: Int64?
    private var position: Int64 = 0
    private var peeked: [UInt8] = []

    /// Opens a file, or standard input for "-".
    /// - Throws: `CommandError` when the file does not exist or cannot be read.
    init(path: String) throws {
        if path == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
        } else {
            name = path
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
        }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let reason = systemErrorText()
            if descriptor > STDERR_FILENO { close(descriptor) }
            throw CommandError(
                code: "NO_INPUT", message: "Cannot read \"\(path)\": \(reason)", path: path,
                status: .noInput)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            if descriptor > STDERR_FILENO { close(descriptor) }
            throw CommandError(
                code: "NO_INPUT", message: "Cannot read \"\(path)\": it is a folder", path: path,
                status: .noInput)
        }
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    var fraction: Double? {
        guard let size, size > 0 else { return nil }
        return min(1, Double(position) / Double(size))
    }

    /// Returns the first bytes without consuming them: at least `count`, unless the input is shorter, and what is there
    /// without waiting. It must be called before the first `read`.
    func peek(_ count: Int) throws -> [UInt8] {
        while peeked.count < count {
            var more = [UInt8](repeating: 0, count: 4096)
            let got = try more.withUnsafeMutableBytes { try readSystem($0) }
            if got == 0 { break }
            peeked += more[..<got]
        }
        return peeked
    }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        if peeked.isEmpty { return try readSystem(memory) }
        let count = min(peeked.count, memory.count)
        memory.copyBytes(from: peeked[..<count])
        peeked.removeFirst(count)
        return count
    }

    /// Waits until a read does not block.
    /// - Throws: `CommandError` when the user interrupts the command meanwhile.
    private func waitForInput() throws {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        repeat { try Interruption.check() } while poll(&state, 1, 100) == 0
    }

    private func readSystem(_ memory: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            // A file is there; a pipe or a terminal may have nothing to read for hours.
            if size == nil { try waitForInput() }
            let got = Foundation.read(descriptor, memory.baseAddress, memory.count)
            if got >= 0 {
                position += Int64(got)
                return got
            }
            if errno != EINTR {
                throw CommandError(
                    code: "IO", message: "Cannot read \"\(name)\": \(systemErrorText())", path: name,
                    status: .inputOutput)
            }
        }
    }
}
