#if TansuServer
import HummingbirdCore
import NIOCore
import TansuBSON

/// The body of an answer while it is written. Small writes are collected; ``flush()`` sends them.
struct AnswerStream {
    private var writer: any ResponseBodyWriter
    private var buffer = ByteBuffer()
    /// The bytes that the head announces and that were not sent yet; nil when it announces none.
    private var left: Int?

    /// Collected bytes beyond this are sent.
    private static let chunkSize = 16 << 10
    /// The most that is sent at once.
    static let pieceSize = 64 << 10

    /// What is sent is not as long as the head says, such as an attachment whose writer lied about the length of its
    /// compressed bytes. A client must not take the rest for the next answer.
    struct WrongLength: Error {}

    init(_ writer: any ResponseBodyWriter, length: Int?) {
        self.writer = writer
        left = length
    }

    /// Whether so much is collected that the next ``write(_:)-String`` sends it. For synchronous code that makes many small parts.
    var isFull: Bool { buffer.readableBytes >= Self.chunkSize }

    mutating func write(_ text: String) async throws {
        append(text)
        if isFull { try await flush() }
    }

    mutating func write(_ bytes: some Sequence<UInt8>) async throws {
        append(bytes)
        if isFull { try await flush() }
    }

    mutating func write(_ bytes: ByteBuffer) async throws {
        if bytes.readableBytes >= Self.chunkSize {
            try await flush()
            try await send(bytes)
        } else {
            buffer.writeImmutableBuffer(bytes)
            if isFull { try await flush() }
        }
    }

    /// Collects without sending, however much it is; see ``isFull``.
    mutating func append(_ text: String) { buffer.writeString(text) }

    /// Collects without sending, however much it is; see ``isFull``.
    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.writeBytes(bytes) }

    /// Sends what is collected and waits until the client can take more.
    mutating func flush() async throws {
        guard buffer.readableBytes > 0 else { return }
        let full = buffer
        buffer = ByteBuffer()
        try await send(full)
    }

    private mutating func send(_ bytes: ByteBuffer) async throws {
        if let left {
            guard bytes.readableBytes <= left else { throw WrongLength() }
            self.left = left - bytes.readableBytes
        }
        // In pieces, so that little waits in memory for a client, and one that takes its answer slowly is seen to take it.
        var rest = bytes
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceSize)), piece.readableBytes > 0 {
            try await writer.write(piece)
        }
    }

    mutating func finish() async throws {
        try await flush()
        guard left == nil || left == 0 else { throw WrongLength() }
        try await writer.finish(nil)
    }
}
#endif
