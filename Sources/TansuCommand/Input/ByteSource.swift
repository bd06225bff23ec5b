import CTansuZlib
import Foundation
import Tansu

/// A sequential source of bytes.
protocol ByteSource: AnyObject {
    /// Reads bytes into memory.
    /// - Returns: The number of bytes that were read, 0 only at the end of the source.
    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int

    /// The fraction of the source that was read, between 0 and 1, or nil when the size is not known.
    var fraction: Double? { get }

    /// The name for messages.
    var name: String { get }
}

/// Opens a file, or standard input for "-", as text in UTF-8. It detects gzip and zstd by the first bytes and decompresses
/// them.
/// - Parameters:
///   - encoding: The encoding of the text, or nil for UTF-8, or UTF-16 with a byte order mark.
///   - key: Returns the key of an encrypted dump. Without it the bytes are as they are.
func openByteSource(
    path: String, encoding: TextEncoding? = nil, key: (() throws -> DatabaseKey)? = nil
) throws -> any ByteSource {
    let file = try FileSource(path: path)
    if let key, try file.peek(8).starts(with: "TANSUENC".utf8) { return try DecryptingSource(file, key: key()) }
    return DecodingSource(try decompressed(file), encoding: encoding)
}

/// Opens a file, or standard input for "-", and decompresses it.
func openCompressedSource(path: String) throws -> any ByteSource { try decompressed(FileSource(path: path)) }

/// The content of a file that is compressed with gzip or zstd, as its first bytes tell, or that is not.
private func decompressed(_ file: FileSource) throws -> any ByteSource {
    let head = try file.peek(2)
    if head.starts(with: [0x1F, 0x8B]) { return try GzipSource(file) }
    // A terminal may have no more than two bytes for now.
    guard head.starts(with: [0x28, 0xB5]), try file.peek(4).starts(with: [0x28, 0xB5, 0x2F, 0xFD]) else { return file }
    return try ZstdSource(file)
}

extension ByteSource {
    /// Copies what is left to a new file.
    func copy(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError(
                code: "IO", message: "Cannot create the temporary file \"\(path)\": \(systemErrorText())", path: path)
        }
        defer { close(descriptor) }
        let writer = OutputWriter(descriptor: descriptor)
        while true {
            try Interruption.check()
            let bytes = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
                count = try read(into: UnsafeMutableRawBufferPointer(memory))
            }
            if bytes.isEmpty { return try writer.flush() }
            try writer.write(bytes: bytes)
        }
    }
}

/// A sliding window over the bytes of a source. It contains the current document, so memory stays bounded for inputs of
/// any length.
struct InputBuffer {
    private let source: any ByteSource
    private var storage: [UInt8]
    private var start = 0
    private var end = 0
    private(set) var isAtEnd = false

    init(_ source: any ByteSource, capacity: Int = 256 * 1024) {
        self.source = source
        storage = [UInt8](repeating: 0, count: max(capacity, 16))
    }

    var fraction: Double? { source.fraction }

    /// The name of the source for messages.
    var name: String { source.name }

    /// The number of bytes in the window.
    var count: Int { end - start }

    subscript(offset: Int) -> UInt8 { storage[start + offset] }

    /// Reads more bytes into the end of the window, which grows when it is full.
    /// - Returns: Whether there were more bytes.
    mutating func fill() throws -> Bool {
        if isAtEnd { return false }
        if start > 0 {
            storage.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
            end -= start
            start = 0
        }
        if end == storage.count {
            storage.append(contentsOf: repeatElement(0, count: storage.count))
        }
        let got = try storage.withUnsafeMutableBytes { bytes in
            try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
        }
        end += got
        isAtEnd = got == 0
        return got > 0
    }

    /// Removes the first bytes of the window.
    mutating func discard(_ count: Int) {
        start += count
    }

    /// The offset of the first byte of a value at or after `offset`, or nil when the window has none.
    func firstOffset(of byte: UInt8, from offset: Int) -> Int? {
        withBytes(offset..<count) { bytes in
            guard let base = bytes.baseAddress, let hit = memchr(base, Int32(byte), bytes.count)
            else { return nil }
            return offset + (UnsafeRawPointer(hit) - base)
        }
    }

    /// Calls a closure with the bytes of a range of the window.
    func withBytes<R>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try storage.withUnsafeBytes { bytes in
            try body(
                UnsafeRawBufferPointer(
                    rebasing: bytes[(start + range.lowerBound)..<(start + range.upperBound)]))
        }
    }
}

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
        while true {
            try Interruption.check()
            let ready = poll(&state, 1, 100)
            // A signal is what the check is for.
            if ready > 0 || ready < 0 && errno != EINTR { return }
        }
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

/// A source that decompresses gzip. It supports several members, as in the output of `cat a.gz b.gz`.
///
/// The stream has a stable address because zlib keeps a pointer to it in its state.
final class GzipSource: ByteSource {
    private let file: FileSource
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isBetweenMembers = false
    private var isDone = false

    /// - Throws: `CommandError` when zlib cannot allocate memory.
    init(_ file: FileSource) throws {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        input = .allocate(byteCount: 64 * 1024, alignment: 1)
        // 15 bits of window, plus 16 to select the gzip format.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, 15 + 16, zlibVersion(), size) == Z_OK else {
            throw CommandError(
                code: "MEMORY", message: "Cannot allocate memory to decompress \"\(file.name)\"", path: file.name)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    var fraction: Double? { file.fraction }
    var name: String { file.name }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        let capacity = min(memory.count, 1 << 30)
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(capacity)
        while !isDone, stream.pointee.avail_out == UInt32(capacity) {
            if stream.pointee.avail_in == 0, try !refill() {
                guard isBetweenMembers else { throw corrupt("it is truncated") }
                isDone = true
                break
            }
            if isBetweenMembers {
                let next = stream.pointee.next_in.pointee
                if next == 0 {
                    // Padding, as on tapes.
                    stream.pointee.next_in += 1
                    stream.pointee.avail_in -= 1
                    continue
                }
                guard next == 0x1F else { throw corrupt("something else follows its end") }
                inflateReset(stream)
                isBetweenMembers = false
            }
            switch inflate(stream, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: isBetweenMembers = true
            case Z_MEM_ERROR:
                throw CommandError(
                    code: "MEMORY", message: "Cannot allocate memory to decompress \"\(file.name)\"",
                    path: file.name)
            default:
                throw corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "not gzip")
            }
        }
        return capacity - Int(stream.pointee.avail_out)
    }

    private func refill() throws -> Bool {
        let got = try file.read(into: input)
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(got)
        return got > 0
    }

    private func corrupt(_ reason: String) -> CommandError {
        CommandError(
            code: "BAD_GZIP", message: "The gzip data of \"\(file.name)\" is corrupt: \(reason)",
            path: file.name, status: .invalidInput)
    }
}

/// The text of an encrypted dump. Its end is an error unless all of the dump was as it was written.
final class DecryptingSource: ByteSource {
    private let file: FileSource
    private let reader: EngineDumpReader

    /// - Throws: ``TansuError``, such as `.wrongKey`.
    init(_ file: FileSource, key: DatabaseKey) throws {
        self.file = file
        reader = try EngineDumpReader(key: key) { try file.read(into: $0) }
    }

    var fraction: Double? { file.fraction }
    var name: String { file.name }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int { try reader.read(into: memory) }
}
