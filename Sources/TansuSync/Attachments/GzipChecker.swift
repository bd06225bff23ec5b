#if TansuSync
    import TansuBSON

    /// Decompresses what is stored compressed, only to see that this is possible: a reader that wants the plain bytes would find out
    /// in the middle of its answer.
    ///
    /// `@unchecked Sendable`: its owner uses it from one thread at a time.
    final class GzipChecker: @unchecked Sendable {
        private let stream: GzipStream
        private let limit: Int64
        private var length: Int64 = 0

        /// - Parameter limit: The greatest number of decompressed bytes.
        init(limit: Int64) throws(AttachmentError) {
            stream = try GzipStream(compressing: false)
            self.limit = limit
        }

        /// - Throws: ``AttachmentError`` of code `invalidEncoding` or `tooLarge`.
        func read(_ bytes: [UInt8]) throws {
            var start = 0
            while start < bytes.count {
                let end = min(start + BlobLayout.chunkSize, bytes.count)
                stream.feed(Array(bytes[start..<end]))
                while let piece = try stream.pull() {
                    length += Int64(piece.count)
                    guard length <= limit else {
                        throw AttachmentError(
                            .tooLarge, "The attachment has more than \(limit) bytes when it is decompressed")
                    }
                }
                start = end
            }
        }

        /// - Parameter expected: What the number of decompressed bytes was said to be.
        /// - Throws: ``AttachmentError`` of code `invalidEncoding` when the end is missing, or the number is another one.
        func end(expected: Int64?) throws {
            guard stream.isAtEnd else {
                throw AttachmentError(.invalidEncoding, "The bytes of the attachment are not whole gzip")
            }
            guard expected == nil || expected == length else {
                throw AttachmentError(
                    .invalidEncoding,
                    "The attachment has \(length) bytes when it is decompressed, not \(expected ?? 0) as was said")
            }
        }
    }
#endif
