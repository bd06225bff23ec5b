/// MongoDB's internal timestamp: seconds and an increment within the second. It is not a date.
public struct BSONTimestamp: Sendable, Hashable {
    /// Seconds since 1970.
    public var seconds: UInt32
    /// The number of the event within the second.
    public var increment: UInt32

    /// Creates a timestamp.
    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }

    init(rawValue: UInt64) {
        self.init(seconds: UInt32(truncatingIfNeeded: rawValue >> 32), increment: UInt32(truncatingIfNeeded: rawValue))
    }

    var rawValue: UInt64 { UInt64(seconds) << 32 | UInt64(increment) }
}

extension BSONTimestamp: Comparable {
    /// Whether one timestamp is before another.
    public static func < (a: BSONTimestamp, b: BSONTimestamp) -> Bool { a.rawValue < b.rawValue }
}
