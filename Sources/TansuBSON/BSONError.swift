/// Why bytes, JSON text, a path or a number was refused by this module.
///
/// `code` tells the kind of mistake, `message` says it in words, and the remaining properties tell where it was
/// found: the byte offset in the input, for JSON text also the line and column, and for documents the dotted path of
/// the field.
public struct BSONError: Error, Sendable, Hashable {
    /// The kinds of mistakes.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A length field contradicts the bytes around it, or the input ends too early.
        case invalidLength
        /// A type byte that BSON does not define.
        case invalidType
        /// A value that its type does not allow, such as a boolean byte other than 0 or 1.
        case invalidValue
        /// Text that is not valid UTF-8.
        case invalidUTF8
        /// The zero byte that ends a document, a key or a string is missing.
        case missingTerminator
        /// Documents are nested deeper than ``BSONDocument/maximumDepth``.
        case tooDeep
        /// The document would be larger than BSON's 32-bit lengths can say.
        case tooLarge
        /// A key that BSON cannot hold: it contains a NUL character.
        case invalidKey
        /// The same key stands twice in one JSON object.
        case duplicateKey
        /// The text is not JSON.
        case invalidJSON
        /// The text is JSON, but a `$…` wrapper of extended JSON in it is malformed.
        case invalidExtendedJSON
        /// A number that the target type cannot hold exactly.
        case numberOutOfRange
        /// A dotted path that is malformed or leads through a value that has no fields.
        case invalidPath
    }

    /// The kind of mistake.
    public var code: Code
    /// What is wrong, in words.
    public var message: String
    /// The offset in bytes where the mistake was found.
    public var offset: Int?
    /// The dotted path of the field in which the mistake was found.
    public var keyPath: String?
    /// The line of JSON text, counted from 1.
    public var line: Int?
    /// The column of JSON text in bytes, counted from 1.
    public var column: Int?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, offset: Int? = nil, keyPath: String? = nil, line: Int? = nil,
        column: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.offset = offset
        self.keyPath = keyPath
        self.line = line
        self.column = column
    }
}

extension BSONError: CustomStringConvertible {
    /// The message followed by the place.
    public var description: String {
        var text = message
        if let keyPath, !keyPath.isEmpty { text += " at \"\(keyPath)\"" }
        if let line, let column {
            text += " (line \(line), column \(column))"
        } else if let offset {
            text += " (byte \(offset))"
        }
        return text
    }
}
