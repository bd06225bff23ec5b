#if TansuSync
    import TansuBSON

    /// A parser of multipart bodies whose parts may be multipart bodies themselves, as the answers to `open_revs` are.
    package struct MultipartReader: Sendable {
        /// What the bytes of a chunk are.
        package enum Event: Sendable, Hashable {
            /// A part begins that is a multipart body itself. Its parts follow.
            case open(MultipartHead)
            /// A part with bytes begins.
            case part(MultipartHead)
            /// Bytes of the part.
            case body([UInt8])
            /// The part with bytes is complete.
            case partEnd
            /// The nested multipart body is complete.
            case close
            /// The whole body is complete.
            case end
        }

        private var parser: MultipartParser
        private let limits: MultipartParser.Limits
        private let nesting: Int
        /// The reader of the part that is a body itself; at most one element.
        private var inner: [MultipartReader] = []

        /// Creates a reader.
        ///
        /// - Parameters:
        ///   - type: The media type of the body.
        ///   - nesting: How many bodies deep a part can be: 1 for no nested ones.
        /// - Throws: ``MultipartError`` when the media type is not multipart or has no valid boundary.
        package init(
            _ type: MediaType, nesting: Int = 2, limits: MultipartParser.Limits = .init()
        ) throws(MultipartError) {
            parser = try MultipartParser(type, limits: limits)
            self.limits = limits
            self.nesting = nesting
        }

        /// Takes the next bytes.
        ///
        /// - Throws: ``MultipartError``; the reader cannot be used after it.
        package mutating func push(_ chunk: some Collection<UInt8>) throws(MultipartError) -> [Event] {
            var events: [Event] = []
            for event in try parser.push(chunk) {
                switch event {
                case .part(let head):
                    guard let type = head.contentType, type.isMultipart else {
                        events.append(.part(head))
                        break
                    }
                    guard nesting > 1 else {
                        throw MultipartError(.tooDeep, "A part is a multipart body itself, which is not allowed here")
                    }
                    inner = [try MultipartReader(type, nesting: nesting - 1, limits: limits)]
                    events.append(.open(head))
                case .body(let bytes):
                    guard !inner.isEmpty else {
                        events.append(.body(bytes))
                        break
                    }
                    events += try inner[0].push(bytes).filter { $0 != .end }
                case .partEnd:
                    guard let reader = inner.popLast() else {
                        events.append(.partEnd)
                        break
                    }
                    try reader.finish()
                    events.append(.close)
                case .end:
                    events.append(.end)
                }
            }
            return events
        }

        /// Says that there are no more bytes.
        ///
        /// - Throws: ``MultipartError`` when the last boundary is missing.
        package func finish() throws(MultipartError) { try parser.finish() }
    }
#endif
