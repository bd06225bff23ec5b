import Foundation

/// A file that is read at any offset, as it was before changes that its log undoes. The file itself is not changed.
final class RestoredFile {
    let name: String
    private let descriptor: Int32
    private(set) var size: Int
    /// What the log restores, in pages by their numbers.
    private var pages: [Int: [UInt8]] = [:]
    /// The bytes that were read last in order.
    private var window: [UInt8] = []
    private var windowStart = 0

    private static let pageSize = 4096
    private static let windowSize = 256 << 10

    /// - Throws: `CommandError` when the file does not exist, cannot be read or is no regular file.
    init(path: String) throws {
        name = path
        // Opening a pipe would wait for a writer.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let reason = systemErrorText()
            if descriptor >= 0 { close(descriptor) }
            throw Self.unreadable(path, reason)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.unreadable(path, "it is no regular file")
        }
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    private static func unreadable(_ path: String, _ reason: String) -> CommandError {
        CommandError(
            code: "NO_INPUT", message: "Cannot read \"\(path)\": \(reason)", path: path, status: .noInput)
    }

    /// The bytes from an offset on: `count` of them, or fewer at the end of the file.
    /// - Parameter isRandom: Whether those that follow are not expected to be read next.
    func bytes(at offset: Int, count: Int, isRandom: Bool = false) throws -> ArraySlice<UInt8> {
        let count = max(0, min(count, size - offset))
        if offset < windowStart || offset + count > windowStart + window.count {
            if isRandom { return try read(at: offset, count: count)[...] }
            window = try read(at: offset, count: min(max(count, Self.windowSize), size - offset))
            windowStart = offset
        }
        let start = offset - windowStart
        // The file was made shorter by another process meanwhile.
        let end = min(start + count, window.count)
        return window[min(start, end)..<end]
    }

    private func read(at offset: Int, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes { memory in
                pread(descriptor, memory.baseAddress.map { $0 + filled }, memory.count - filled, off_t(offset + filled))
            }
            if got < 0, errno == EINTR { continue }
            if got < 0 {
                throw CommandError(
                    code: "IO", message: "Cannot read \"\(name)\": \(systemErrorText())", path: name,
                    status: .inputOutput)
            }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(bytes.count - filled)
        guard !pages.isEmpty, filled > 0 else { return bytes }
        for page in offset / Self.pageSize...(offset + filled - 1) / Self.pageSize {
            guard let restored = pages[page] else { continue }
            let first = page * Self.pageSize
            let from = max(offset, first)
            let to = min(offset + filled, first + restored.count)
            guard from < to else { continue }
            bytes.replaceSubrange((from - offset)..<(to - offset), with: restored[(from - first)..<(to - first)])
        }
        return bytes
    }

    /// Replaces bytes in memory.
    /// - Returns: The number of bytes that this takes beyond those before.
    func restore(_ restored: ArraySlice<UInt8>, at offset: Int) throws -> Int {
        var taken = 0
        var rest = restored.prefix(max(0, size - offset))
        var position = offset
        while !rest.isEmpty {
            let number = position / Self.pageSize
            let inner = position % Self.pageSize
            var page: [UInt8]
            if let known = pages[number] {
                page = known
            } else {
                page = try read(at: number * Self.pageSize, count: min(Self.pageSize, size - number * Self.pageSize))
                taken += page.count
            }
            let part = rest.prefix(Self.pageSize - inner)
            guard inner + part.count <= page.count else { break }
            page.replaceSubrange(inner..<(inner + part.count), with: part)
            pages[number] = page
            position += part.count
            rest = rest.dropFirst(part.count)
        }
        window = []
        return taken
    }

    /// Takes the file for shorter than it is.
    func truncate(to size: Int) { self.size = min(size, self.size) }
}
