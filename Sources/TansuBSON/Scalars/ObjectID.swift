/// A 12-byte identifier: a timestamp in seconds, five random bytes of the process and a counter.
///
/// The ids of one process sort by the second of their creation. The random bytes make ids unique across processes.
///
/// For example:
/// ```swift
/// let id = ObjectID()
/// let same = ObjectID(id.hexString)
/// ```
public struct ObjectID: Sendable, Hashable {
    // The twelve bytes in big-endian order, so that comparing the two numbers compares the bytes.
    @usableFromInline let high: UInt64
    @usableFromInline let low: UInt32

    @usableFromInline
    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Creates a new unique id.
    public init() {
        self = ObjectIDGenerator.shared.next()
    }

    /// Creates an id from 12 bytes, or nil when the number of bytes is another.
    public init?(bytes: some Sequence<UInt8>) {
        var high: UInt64 = 0
        var low: UInt32 = 0
        var count = 0
        for byte in bytes {
            if count < 8 {
                high = high << 8 | UInt64(byte)
            } else {
                low = low << 8 | UInt32(byte)
            }
            count += 1
            if count > 12 { return nil }
        }
        guard count == 12 else { return nil }
        self.init(high: high, low: low)
    }

    /// The 12 bytes of the id.
    public var bytes: [UInt8] {
        (0..<12).map {
            $0 < 8 ? UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) : UInt8(truncatingIfNeeded: low >> (88 - 8 * $0))
        }
    }

    /// The time of creation, in seconds since 1970.
    public var secondsSince1970: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }
}

extension ObjectID: Comparable {
    /// Whether the bytes of one id sort before those of another.
    public static func < (a: ObjectID, b: ObjectID) -> Bool {
        a.high != b.high ? a.high < b.high : a.low < b.low
    }
}

extension UnsafeRawBufferPointer {
    @inlinable @inline(__always)
    func objectID(at offset: Int) -> ObjectID {
        ObjectID(
            high: UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
            low: UInt32(bigEndian: loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)))
    }
}

extension ByteBuffer {
    @inlinable @inline(__always)
    mutating func append(_ id: ObjectID) {
        append(littleEndian: id.high.byteSwapped)
        append(littleEndian: id.low.byteSwapped)
    }
}
