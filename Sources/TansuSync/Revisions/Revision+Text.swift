#if TansuSync
    import TansuBSON

    extension Revision {
        /// Reads a revision such as `3-917fa2381192822767f010b95b45325b`.
        ///
        /// - Throws: ``RevisionError`` that says what is wrong with the text.
        public init(_ text: some StringProtocol) throws(RevisionError) {
            let utf8 = text.utf8
            guard !utf8.isEmpty else { throw RevisionError(.emptyText, "The revision is empty") }
            // A sign is read before the dash, so that "-1-abc" is a negative generation.
            let start = utf8.first == UInt8(ascii: "-") ? utf8.index(after: utf8.startIndex) : utf8.startIndex
            guard let dash = utf8[start...].firstIndex(of: UInt8(ascii: "-")) else {
                throw RevisionError(.missingDash, "The revision has no dash between generation and hash")
            }
            let digits = utf8[start..<dash]
            guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                throw RevisionError(.invalidGeneration, "The revision does not begin with a number")
            }
            let isNegative = start != utf8.startIndex
            // Digits that Int cannot hold are too many for a generation as well.
            let magnitude = Int(String(decoding: digits, as: UTF8.self)) ?? .max
            let generation = isNegative ? -magnitude : magnitude
            try Self.validate(generation)
            self.init(generation: generation, hash: try RevisionHash(utf8: utf8[utf8.index(after: dash)...]))
        }
    }

    extension Revision: LosslessStringConvertible {
        /// Reads a revision; nil when the text is none.
        public init?(_ description: String) {
            guard let revision = try? Revision(Substring(description)) else { return nil }
            self = revision
        }

        /// The generation, a dash and the hash.
        public var description: String { "\(generation)-" + hash.description }
    }
#endif
