#if TansuServer
    import TansuBSON

    /// The ranges of bytes that a header `Range` asks for.
    enum ByteRanges: Equatable {
        /// All bytes: there is no header, or none that means something.
        case all
        case parts([Range<Int64>])

        /// More ranges than this are answered with all bytes.
        private static let maximumCount = 9

        /// - Throws: ``HTTPFailure`` with 416 when a range begins after the end.
        init(_ header: String?, length: Int64) throws {
            guard let list = header?.dropping(prefix: "bytes=") else {
                self = .all
                return
            }
            var ranges: [Range<Int64>] = []
            for text in list.parts(separatedBy: ",") {
                guard let bounds = Self.bounds(text.trimmingSpaces, length) else {
                    self = .all
                    return
                }
                guard bounds.first <= bounds.last else { throw HTTPFailure.rangeNotSatisfiable }
                ranges.append(bounds.first..<bounds.last + 1)
            }
            self = ranges.isEmpty || ranges.count > Self.maximumCount ? .all : .parts(ranges)
        }

        /// The first and the last byte; nil when the text is no range.
        private static func bounds(_ text: String, _ length: Int64) -> (first: Int64, last: Int64)? {
            let parts = text.parts(separatedBy: "-")
            guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
                return nil
            }
            switch (Int64(parts[0]), Int64(parts[1])) {
            case (let first?, let last?):
                if last < first { return (1, 0) }
                return (first, min(last, length - 1))
            case (let first?, nil) where parts[1].isEmpty: return (first, length - 1)
            case (nil, let count?) where parts[0].isEmpty && count > 0: return (max(0, length - count), length - 1)
            default: return nil
            }
        }
    }

    extension HTTPFailure {
        static var rangeNotSatisfiable: HTTPFailure {
            HTTPFailure(.rangeNotSatisfiable, "requested_range_not_satisfiable", "Requested range not satisfiable")
        }
    }
#endif
