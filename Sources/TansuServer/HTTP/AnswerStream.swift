#if TansuServer
    import HummingbirdCore
    import NIOCore

    /// The body of an answer while it is written. Small writes are collected; ``flush()`` sends them.
    package struct AnswerStream {
        private var writer: any ResponseBodyWriter
        private var buffer = ByteBuffer()

        /// Collected bytes beyond this are sent.
        private static let chunkSize = 16 << 10

        init(_ writer: any ResponseBodyWriter) { self.writer = writer }

        /// Whether so much is collected that the next ``write(_:)-String`` sends it. For synchronous code that makes many small parts.
        package var isFull: Bool { buffer.readableBytes >= Self.chunkSize }

        package mutating func write(_ text: String) async throws {
            append(text)
            if isFull { try await flush() }
        }

        package mutating func write(_ bytes: some Sequence<UInt8>) async throws {
            append(bytes)
            if isFull { try await flush() }
        }

        package mutating func write(_ bytes: ByteBuffer) async throws {
            if bytes.readableBytes >= Self.chunkSize {
                try await flush()
                try await writer.write(bytes)
            } else {
                buffer.writeImmutableBuffer(bytes)
                if isFull { try await flush() }
            }
        }

        /// Collects without sending, however much it is; see ``isFull``.
        package mutating func append(_ text: String) { buffer.writeString(text) }

        /// Collects without sending, however much it is; see ``isFull``.
        package mutating func append(_ bytes: some Sequence<UInt8>) { buffer.writeBytes(bytes) }

        /// Sends what is collected and waits until the client can take more.
        package mutating func flush() async throws {
            guard buffer.readableBytes > 0 else { return }
            let full = buffer
            buffer = ByteBuffer()
            try await writer.write(full)
        }

        mutating func finish() async throws {
            try await flush()
            try await writer.finish(nil)
        }
    }
#endif
