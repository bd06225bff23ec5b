/// An error that this module throws when bytes, JSON text, a path or a number is invalid.
///
/// `code` is the kind of error and `message` describes it. The other properties locate it: the byte offset in the
/// input, the line and the column in JSON text, and the dotted path of the field in a document.
public struct BSONError: Error, Sendable, Hashable {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A length field does not match the bytes around it, or the input is truncated.
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
        /// The document is larger than BSON's 32-bit lengths allow.
        case tooLarge
        /// A key that BSON cannot store because it contains a NUL character.
        case invalidKey
        /// A JSON object has the same key twice.
        case duplicateKey
        /// The text is not JSON.
        case invalidJSON
        /// The text is JSON, but it contains a malformed `$…` wrapper of extended JSON.
        case invalidExtendedJSON
        /// A number that the target type cannot hold exactly.
        case numberOutOfRange
        /// A dotted path that is malformed or passes through a value without fields.
        case invalidPath
    }

    /// The kind of error.
    public var code: Code
    /// The description of the error, without its location.
    public var message: String
    /// The byte offset of the error in the input.
    public var offset: Int?
    /// The dotted path of the field that has the error.
    public var keyPath: String?
    /// The line of the error in JSON text, counted from 1.
    public var line: Int?
    /// The column of the error in JSON text, counted in bytes from 1.
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
    /// The message, followed by the path and the line and column or the byte offset.
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
