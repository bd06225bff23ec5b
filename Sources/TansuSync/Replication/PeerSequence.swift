#if TansuSync
    import TansuBSON

    /// An update sequence of a peer, which only that peer understands: a number, a text or an array.
    package struct PeerSequence: Sendable, Hashable {
        package let json: BSONValue

        /// Integers of any width are equal when their values are.
        package init(_ json: BSONValue) { self.json = json.int64Value.map { .int64($0) } ?? json }

        /// The number in it by which two sequences of one peer can be compared: itself, or what a text or an array
        /// begins with.
        var number: Int64? {
            switch json {
            case .int64(let number): number
            case .string(let text): Int64(text.prefix { $0.isASCII && $0.isNumber })
            case .array(let array): array.first?.int64Value
            default: nil
            }
        }
    }
#endif
