import Foundation

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
