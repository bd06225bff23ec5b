/// The key of an encrypted database: 32 random bytes, or a passphrase.
///
/// For example:
///
/// ```swift
/// let db = try Database(path: "people.tansu", key: .passphrase("correct horse battery staple"))
/// try db.rekey(to: .bytes(keyOfKeychain))
/// ```
///
/// A new database is encrypted when it is created with a key, and opens with this key from then on. An opening with a
/// passphrase takes about a quarter of a second, with bytes it takes no time. The memory of a key is overwritten when
/// the last copy of the value is gone; that of the text or array that it was made of is not.
public struct DatabaseKey: Sendable {
    enum Kind { case bytes, passphrase }

    let secret: Secret
    let kind: Kind
    let iterations: Int?

    /// A key of 32 bytes from a source of random ones, such as the keychain keeps. Opening with another number of bytes
    /// throws `.invalidArgument`.
    public static func bytes(_ bytes: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(secret: Secret(bytes), kind: .bytes, iterations: nil)
    }

    /// A passphrase: its UTF-8. Opening with an empty one throws `.invalidArgument`.
    ///
    /// - Parameters:
    ///   - text: The passphrase. It is not normalized: characters that only look the same differ.
    ///   - iterations: How often PBKDF2 hashes the passphrase of a new database or of a new key, 256,000 to 10,000,000;
    ///     256,000 when `nil`. The database stores the number, and an opening uses that.
    public static func passphrase(_ text: String, iterations: Int? = nil) -> DatabaseKey {
        DatabaseKey(secret: Secret(text.utf8), kind: .passphrase, iterations: iterations)
    }
}

extension DatabaseKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Not the key.
    public var description: String { "DatabaseKey" }

    /// Not the key.
    public var debugDescription: String { description }

    /// Without the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Bytes that are overwritten at the end of their life.
///
/// `@unchecked Sendable`: nothing writes the bytes between `init` and `deinit`.
final class Secret: @unchecked Sendable {
    /// One byte more than the key has, so that an empty one has an address, too.
    let bytes: UnsafeMutableRawBufferPointer
    let size: Int

    init(_ source: some Sequence<UInt8>) {
        var copy = Array(source)
        size = copy.count
        bytes = .allocate(byteCount: copy.count + 1, alignment: 1)
        bytes.copyBytes(from: copy)
        copy.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    deinit {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.deallocate()
    }
}
