import Foundation

/// A binary value: bytes with a subtype.
public struct BSONBinary: Sendable, Hashable {
    /// The meaning of the bytes of a binary value.
    public struct Subtype: RawRepresentable, Sendable, Hashable {
        /// The byte that is stored.
        public var rawValue: UInt8
        /// Creates a subtype from the byte that is stored.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bytes of no specific meaning.
        public static let generic = Subtype(rawValue: 0x00)
        /// A function.
        public static let function = Subtype(rawValue: 0x01)
        /// The deprecated form of generic bytes, which stores the length twice.
        public static let oldBinary = Subtype(rawValue: 0x02)
        /// The deprecated form of a UUID, whose byte order depends on the driver.
        public static let oldUUID = Subtype(rawValue: 0x03)
        /// A UUID.
        public static let uuid = Subtype(rawValue: 0x04)
        /// An MD5 digest.
        public static let md5 = Subtype(rawValue: 0x05)
        /// The first of the subtypes that applications may define.
        public static let userDefined = Subtype(rawValue: 0x80)
    }

    /// The subtype.
    public var subtype: Subtype
    /// The bytes.
    public var bytes: [UInt8]

    /// Creates a binary value.
    public init(_ bytes: [UInt8], subtype: Subtype = .generic) {
        self.bytes = bytes
        self.subtype = subtype
    }

    /// Creates a generic binary value.
    public init(_ data: Data) { self.init([UInt8](data)) }

    /// Creates a binary value of subtype 4.
    public init(_ uuid: UUID) {
        self.init(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }, subtype: .uuid)
    }

    /// The bytes as `Data`.
    public var data: Data { Data(bytes) }

    /// The UUID, or nil unless the value is 16 bytes of subtype 4.
    public var uuid: UUID? {
        guard subtype == .uuid, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

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

/// A stored regular expression: a pattern and options.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern.
    public let pattern: String
    /// The options, one letter each, in alphabetical order.
    public let options: String

    /// Creates a regular expression.
    ///
    /// The options are sorted, as BSON requires. BSON cannot store a NUL character in either text: every call that gets
    /// one refuses it.
    public init(_ pattern: String, options: String = "") {
        self.pattern = pattern
        let scalars = options.unicodeScalars
        let isSorted = zip(scalars, scalars.dropFirst()).allSatisfy { $0 <= $1 }
        self.options = isSorted ? options : String(String.UnicodeScalarView(scalars.sorted()))
    }
}

/// A symbol, a string type that BSON deprecates.
public struct BSONSymbol: Sendable, Hashable {
    /// The text.
    public var text: String

    /// Creates a symbol.
    public init(_ text: String) { self.text = text }
}

/// A reference to a document by the name of its collection and its id, which BSON deprecates.
public struct BSONDBPointer: Sendable, Hashable {
    /// The name of the collection.
    public var collection: String
    /// The id of the document.
    public var id: ObjectID

    /// Creates a pointer.
    public init(collection: String, id: ObjectID) {
        self.collection = collection
        self.id = id
    }
}
