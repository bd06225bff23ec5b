/// A format of extended JSON, version 2.
public enum ExtendedJSONFormat: Sendable, Hashable {
    /// The canonical format, which preserves every type: a number is written as `{"$numberInt": "1"}`.
    case canonical
    /// The relaxed format, which is easier to read: `1`, `{"$date": "2024-05-01T12:00:00Z"}`.
    case relaxed
}

extension BSONDocument {
    /// Creates a document from JSON text, plain or extended.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is not JSON or not an object, has a key twice, is
    ///   nested deeper than ``maximumDepth`` or contains a malformed `$…` wrapper.
    public init(extendedJSON text: String) throws {
        try self.init(extendedJSON: text.utf8)
    }

    /// Creates a document from JSON text in UTF-8, plain or extended.
    ///
    /// - Throws: ``BSONError`` for the same reasons as the initializer from `String`.
    public init(extendedJSON utf8: some Collection<UInt8>) throws {
        guard case .document(let document) = try BSONValue(extendedJSON: utf8) else {
            throw BSONError(.invalidJSON, "A document must be a JSON object", offset: 0, line: 1, column: 1)
        }
        self = document
    }

    /// The document as extended JSON.
    ///
    /// - Parameters:
    ///   - format: Which of the two forms.
    ///   - pretty: Whether to write each field on a separate line.
    public func extendedJSON(_ format: ExtendedJSONFormat = .relaxed, pretty: Bool = false) -> String {
        String(decoding: extendedJSONBytes(format, pretty: pretty), as: UTF8.self)
    }

    /// The document as extended JSON in UTF-8.
    ///
    /// - Parameters:
    ///   - format: Which of the two forms.
    ///   - pretty: Whether to write each field on a separate line.
    public func extendedJSONBytes(_ format: ExtendedJSONFormat = .relaxed, pretty: Bool = false) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            var writer = ExtendedJSONWriter(bytes, format: format, isPretty: pretty)
            writer.write(documentAt: 0, isArray: false)
            return writer.finish()
        }
    }
}

extension BSONDocument {
    /// Creates a document to store from JSON text in UTF-8, plain or extended, also of version 1 of extended JSON.
    ///
    /// - Throws: ``BSONError`` for the same reasons as `init(extendedJSON:)`.
    package init(storedJSON utf8: UnsafeRawBufferPointer) throws {
        let value = try utf8.withMemoryRebound(to: UInt8.self) { try ExtendedJSONParser.parse($0, .stored) }
        guard case .document(let document) = value else {
            throw BSONError(.invalidJSON, "A document must be a JSON object", offset: 0, line: 1, column: 1)
        }
        self = document
    }
}

extension BSONValue {
    /// Creates a value from JSON text, plain or extended: any value, not only an object.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    public init(extendedJSON text: String) throws {
        try self.init(extendedJSON: text.utf8)
    }

    /// Creates a value from JSON text in UTF-8, plain or extended: any value, not only an object.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    public init(extendedJSON utf8: some Collection<UInt8>) throws {
        let parsed = try utf8.withContiguousStorageIfAvailable { try ExtendedJSONParser.parse($0) }
        self = try parsed ?? Array(utf8).withUnsafeBufferPointer { try ExtendedJSONParser.parse($0) }
    }

    /// The value as extended JSON.
    ///
    /// - Parameters:
    ///   - format: Which of the two forms.
    ///   - pretty: Whether to write each field on a separate line.
    public func extendedJSON(_ format: ExtendedJSONFormat = .relaxed, pretty: Bool = false) -> String {
        text(format, isPretty: pretty, showsUUIDs: false)
    }

    func text(_ format: ExtendedJSONFormat, isPretty: Bool, showsUUIDs: Bool) -> String {
        var buffer = ByteBuffer(capacity: 64)
        buffer.append(field: "", self)
        // The writer expects the zero byte that ends a document.
        buffer.append(0 as UInt8)
        var writer = ExtendedJSONWriter(buffer.bytes, format: format, isPretty: isPretty, showsUUIDs: showsUUIDs)
        writer.write(elementAt: 0)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}

extension BSONValue {
    /// Creates a value from plain JSON text in which `$…` keys have no meaning, as other databases read it.
    ///
    /// Of several equal keys the last wins, in the position of the first. An integer beyond 64 bits of up to 34 digits becomes
    /// a decimal, so that it keeps its value.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(plainJSON text: String) throws {
        try self.init(plainJSON: text.utf8)
    }

    /// Creates a value from plain JSON text in UTF-8, in which `$…` keys have no meaning.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(plainJSON utf8: some Collection<UInt8>) throws {
        let parsed = try utf8.withContiguousStorageIfAvailable { try ExtendedJSONParser.parse($0, .plain) }
        self = try parsed ?? Array(utf8).withUnsafeBufferPointer { try ExtendedJSONParser.parse($0, .plain) }
    }
}

extension BSONValue: CustomStringConvertible {
    /// The value as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { text(.relaxed, isPretty: false, showsUUIDs: true) }
}

extension BSONDocument: CustomStringConvertible {
    /// The document as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { BSONValue.document(self).description }
}

extension BSONArray: CustomStringConvertible {
    /// The array as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { BSONValue.array(self).description }
}
