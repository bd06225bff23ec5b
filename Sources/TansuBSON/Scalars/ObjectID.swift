import Foundation

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

    /// The least one: twelve zero bytes.
    package static let zero = ObjectID(high: 0, low: 0)

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

// MARK: - Text

extension ObjectID: LosslessStringConvertible {
    /// Creates an id from 24 hexadecimal digits, or nil when the text is anything else.
    public init?(_ hexString: String) {
        guard let bytes = Hex.decode(hexString) else { return nil }
        self.init(bytes: bytes)
    }

    /// The id as 24 lower-case hexadecimal digits.
    public var hexString: String { Hex.encode(bytes) }

    /// The id as 24 lower-case hexadecimal digits.
    public var description: String { hexString }

    /// The date of creation, to the second.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }
}

extension ObjectID: Codable {
    /// Decodes an id: natively with ``BSONDecoder``, as hexadecimal text with any other decoder.
    ///
    /// - Throws: `DecodingError` when the text is not 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = ObjectID(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not 24 hexadecimal digits")
        }
        self = id
    }

    /// Encodes the id: natively with ``BSONEncoder``, as hexadecimal text with any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hexString)
    }
}

// MARK: - Generator

/// The generator of the ids of one process: random bytes that they share, and a counter.
struct ObjectIDGenerator {
    static let shared = SharedObjectIDGenerator()

    private var process: Int32 = 0
    private var random: UInt64 = 0
    private var counter: UInt32 = 0

    /// Generates the next id.
    ///
    /// - Parameter process: The id of the running process. A child created by `fork` inherits the generator. The
    ///   generator draws new random bytes when the process id changes, so parent and child never generate equal ids.
    mutating func next(seconds: UInt32, process: Int32) -> ObjectID {
        if process != self.process {
            self.process = process
            random = .random(in: 0...0xFF_FFFF_FFFF)
            counter = .random(in: 0...0xFF_FFFF)
        }
        counter = (counter + 1) & 0xFF_FFFF
        return ObjectID(
            high: UInt64(seconds) << 32 | random >> 8, low: UInt32(truncatingIfNeeded: random & 0xFF) << 24 | counter)
    }
}

/// The generator of this process, which all threads share.
final class SharedObjectIDGenerator: Sendable {
    private let generator = Locked(ObjectIDGenerator())

    func next() -> ObjectID {
        let seconds = UInt32(truncatingIfNeeded: time(nil))
        let process = getpid()
        return generator.withLock { $0.next(seconds: seconds, process: process) }
    }
}
