import Foundation

/// Bytes with a subtype that says what they mean.
public struct BSONBinary: Sendable, Hashable {
    /// What the bytes of a binary value mean.
    public struct Subtype: RawRepresentable, Sendable, Hashable {
        /// The byte that is stored.
        public var rawValue: UInt8
        /// Creates a subtype from the byte that is stored.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bytes without a further meaning.
        public static let generic = Subtype(rawValue: 0x00)
        /// A function.
        public static let function = Subtype(rawValue: 0x01)
        /// The old form of generic bytes, which is stored with its length twice.
        public static let oldBinary = Subtype(rawValue: 0x02)
        /// The old form of a UUID, whose byte order differs by driver.
        public static let oldUUID = Subtype(rawValue: 0x03)
        /// A UUID.
        public static let uuid = Subtype(rawValue: 0x04)
        /// An MD5 digest.
        public static let md5 = Subtype(rawValue: 0x05)
        /// The first of the subtypes that applications may give a meaning.
        public static let userDefined = Subtype(rawValue: 0x80)
    }

    /// What the bytes mean.
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

    /// The UUID, when the subtype is 4 and there are 16 bytes.
    public var uuid: UUID? {
        guard subtype == .uuid, bytes.count == 16 else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
