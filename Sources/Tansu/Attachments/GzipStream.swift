#if TansuSync
import CTansuZlib
import TansuBSON

/// Compresses to gzip, or decompresses it, in chunks.
///
/// `@unchecked Sendable`: its owner uses it from one thread at a time. The stream has a stable address because zlib
/// keeps a pointer to it in its state.
package final class GzipStream: @unchecked Sendable {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private let input: UnsafeMutableRawBufferPointer
    private let compresses: Bool
    /// Whether the end of what was fed is an end of the gzip data. Another member may follow (RFC 1952, 2.2).
    package private(set) var isAtEnd = false

    /// Whether this program can compress.
    static let isAvailable = true

    /// CouchDB's level.
    private static let level: Int32 = 8
    private static let outputSize = 64 << 10

    /// Creates a stream that compresses, or one that decompresses.
    ///
    /// - Throws: ``TansuError`` with `.memory`.
    package init(compressing: Bool) throws(TansuError) {
        compresses = compressing
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: Self.outputSize, alignment: 1)
        input = .allocate(byteCount: compressing ? 0 : BlobLayout.chunkSize, alignment: 1)
        let size = Int32(MemoryLayout<z_stream>.size)
        // 15 bits of window, plus 16 for the format of gzip.
        let status =
            compressing
            ? deflateInit2_(stream, Self.level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, zlibVersion(), size)
            : inflateInit2_(stream, 15 + 16, zlibVersion(), size)
        guard status == Z_OK else {
            throw TansuError(attachment: .memory, "There is no memory to compress an attachment")
        }
    }

    deinit {
        if compresses { deflateEnd(stream) } else { inflateEnd(stream) }
        stream.deallocate()
        output.deallocate()
        input.deallocate()
    }

    /// Compresses bytes.
    ///
    /// - Parameter isLast: Whether to write the end as well.
    func compress(_ bytes: [UInt8], isLast: Bool, _ body: ([UInt8]) throws -> Void) throws {
        try bytes.withUnsafeBytes { input in
            var start = 0
            repeat {
                // zlib counts with 32 bits.
                let piece = UnsafeRawBufferPointer(rebasing: input[start..<min(start + (1 << 30), input.count)])
                start += piece.count
                try compress(piece, isLast: isLast && start == input.count, body)
            } while start < input.count
        }
    }

    private func compress(
        _ input: UnsafeRawBufferPointer, isLast: Bool, _ body: ([UInt8]) throws -> Void
    ) throws {
        let start = input.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
        stream.pointee.avail_in = UInt32(input.count)
        repeat {
            setOutput()
            _ = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            let out = taken()
            if !out.isEmpty { try body(out) }
        } while stream.pointee.avail_out == 0
    }

    /// Gives it bytes to decompress, at most 256 KiB, when it has none left.
    package func feed(_ bytes: [UInt8]) {
        precondition(bytes.count <= input.count)
        input.copyBytes(from: bytes)
        stream.pointee.next_in = input.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_in = UInt32(bytes.count)
    }

    /// The next decompressed bytes, at most 64 KiB; nil when it needs more bytes or the gzip data has ended. Bytes after the
    /// end must be another member.
    ///
    /// - Throws: ``TansuError`` with `.invalidArgument` or `.memory`.
    package func pull() throws(TansuError) -> [UInt8]? {
        while true {
            if isAtEnd {
                guard stream.pointee.avail_in > 0, inflateReset(stream) == Z_OK else { return nil }
                isAtEnd = false
            }
            setOutput()
            switch inflate(stream, Z_NO_FLUSH) {
            case Z_STREAM_END: isAtEnd = true
            case Z_OK, Z_BUF_ERROR: break
            case Z_MEM_ERROR: throw TansuError(attachment: .memory, "There is no memory to decompress an attachment")
            default: throw TansuError(attachment: .invalidArgument, "The bytes of the attachment are not valid gzip")
            }
            let out = taken()
            if !out.isEmpty { return out }
            // A member without bytes says nothing about those after it.
            guard isAtEnd else { return nil }
        }
    }

    private func setOutput() {
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(Self.outputSize)
    }

    private func taken() -> [UInt8] {
        [UInt8](output[..<(Self.outputSize - Int(stream.pointee.avail_out))])
    }
}
#else
/// Without the trait there is no zlib: nothing is compressed, and what is stored compressed cannot be read.
package final class GzipStream: Sendable {
    /// Whether this program can compress.
    static let isAvailable = false

    package init(compressing: Bool) throws(TansuError) {
        throw TansuError(
            attachment: .unsupported,
            "The attachment is stored compressed, which a program without the trait TansuSync cannot read")
    }

    // Never called, for there is no stream.
    package var isAtEnd: Bool { true }
    package func feed(_ bytes: [UInt8]) {}
    package func pull() throws(TansuError) -> [UInt8]? { nil }
    func compress(_ bytes: [UInt8], isLast: Bool, _ body: ([UInt8]) throws -> Void) throws {}
}
#endif

/// Decompresses what is stored compressed, only to see that this is possible: a reader that wants the plain bytes would find out
/// in the middle of its answer.
///
/// `@unchecked Sendable`: its owner uses it from one thread at a time.
final class GzipChecker: @unchecked Sendable {
    private let stream: GzipStream
    private let limit: Int64
    private var length: Int64 = 0

    /// - Parameter limit: The greatest number of decompressed bytes.
    init(limit: Int64) throws(TansuError) {
        stream = try GzipStream(compressing: false)
        self.limit = limit
    }

    /// - Throws: ``TansuError`` with `.invalidArgument` or `.tooLarge`.
    func read(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let end = min(start + BlobLayout.chunkSize, bytes.count)
            stream.feed(Array(bytes[start..<end]))
            while let piece = try stream.pull() {
                length += Int64(piece.count)
                guard length <= limit else {
                    throw TansuError(
                        attachment: .tooLarge, "The attachment has more than \(limit) bytes when it is decompressed")
                }
            }
            start = end
        }
    }

    /// - Parameter expected: What the number of decompressed bytes was said to be.
    /// - Throws: ``TansuError`` with `.invalidArgument` when the end is missing, or the number is another one.
    func end(expected: Int64?) throws {
        guard stream.isAtEnd else {
            throw TansuError(attachment: .invalidArgument, "The bytes of the attachment are not whole gzip")
        }
        guard expected == nil || expected == length else {
            throw TansuError(
                attachment: .invalidArgument,
                "The attachment has \(length) bytes when it is decompressed, not \(expected ?? 0) as was said")
        }
    }
}
