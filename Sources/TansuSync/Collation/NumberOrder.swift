#if TansuSync
    import TansuBSON

    /// A number of any type, none of which is NaN or infinite: JSON has neither.
    enum JSONNumber {
        case integer(Int64)
        case double(Double)
        case decimal(Decimal128)

        /// The number of a value, or nil when JSON cannot write the value as a number.
        init?(_ value: BSONValue) {
            switch value {
            case .int32(let number): self = .integer(Int64(number))
            case .int64(let number): self = .integer(number)
            case .double(let number) where number.isFinite: self = .double(number)
            case .decimal128(let number) where number.isFinite: self = .decimal(number)
            default: return nil
            }
        }

        /// The order of the exact values: no integer is rounded to a double first.
        func order(_ other: JSONNumber) -> Collation.Order {
            switch (self, other) {
            case (.integer(let a), .integer(let b)): Collation.Order(a, b)
            case (.double(let a), .double(let b)): Collation.Order(a, b)
            case (.integer(let a), .double(let b)): Self.order(a, b)
            case (.double(let a), .integer(let b)): Self.order(b, a).reversed
            default: exact.order(other.exact)
            }
        }

        /// Appends the number's sort key.
        func appendKey(to key: inout [UInt8]) { exact.appendKey(to: &key) }

        private var exact: ExactNumber {
            switch self {
            case .integer(let value): ExactNumber(value)
            case .double(let value): ExactNumber(value)
            case .decimal(let value): ExactNumber(value)
            }
        }

        private static func order(_ a: Int64, _ b: Double) -> Collation.Order {
            if b >= 0x1p63 { return .before }
            if b < -0x1p63 { return .after }
            let whole = Int64(b)
            return a == whole ? Collation.Order(Double(whole), b) : Collation.Order(a, whole)
        }
    }
#endif
