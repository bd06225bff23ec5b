import Foundation

/// Where an import's bytes come from, read in order and once.
protocol ByteSource: AnyObject {
    /// Reads some bytes into the memory given.
    /// - Returns: How many, at least one unless the source is at its end.
    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int

    /// How much of the whole has been read, 0 to 1, or nil when the whole's size is not known.
    var fraction: Double? { get }
}

/// A file or standard input, as it lies there.
final class FileSource: ByteSource {
    /// What messages call it.
    let name: String
    private let descriptor: Int32
    private let size: Int64?
    private var position: Int64 = 0
    private var peeked: [UInt8] = []

    /// Opens a file, or standard input for "-".
    /// - Throws: `CommandFailure` when there is no such file or it may not be read.
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
            throw CommandFailure(
                code: "NO_INPUT", message: "Cannot read the file: \(reason).", path: path,
                status: .noInput)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            if descriptor > STDERR_FILENO { close(descriptor) }
            throw CommandFailure(
                code: "NO_INPUT", message: "Cannot read the file: it is a folder.", path: path,
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

    /// The first bytes, which stay to be read. To be called before the first `read`.
    func peek(_ count: Int) throws -> [UInt8] {
        while peeked.count < count {
            var more = [UInt8](repeating: 0, count: count - peeked.count)
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

    private func readSystem(_ memory: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let got = Foundation.read(descriptor, memory.baseAddress, memory.count)
            if got >= 0 {
                position += Int64(got)
                return got
            }
            if errno != EINTR {
                throw CommandFailure(
                    code: "IO", message: "Reading failed: \(systemErrorText()).", path: name,
                    status: .inputOutput)
            }
        }
    }
}

/// Opens a file or "-" and, when its first bytes are those of gzip, unpacks it on the way. The name
/// does not matter, so that standard input may be compressed as well.
func openByteSource(path: String) throws -> any ByteSource {
    let file = try FileSource(path: path)
    if try file.peek(2) == [0x1F, 0x8B] { return try GunzipSource(file) }
    return file
}
