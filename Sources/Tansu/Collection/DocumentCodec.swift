/// Encodes the values of a collection as documents, and decodes them.
package struct DocumentCodec<Element: Sendable>: Sendable {
    /// Calls the closure with the value's document, whose bytes are valid inside it only.
    package let encode: @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The value of a document, whose bytes are valid during the call only.
    package let decode: @Sendable (UnsafeRawBufferPointer) throws -> Element

    /// A value of the module that made the codec.
    package let context: (any Sendable)?

    package init(
        encode: @escaping @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void,
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Element,
        context: (any Sendable)? = nil
    ) {
        self.encode = encode
        self.decode = decode
        self.context = context
    }

    /// The value's document.
    package func document(of element: Element) throws -> BSONDocument {
        var document: BSONDocument = [:]
        try encode(element) { document = BSONDocument(trustedBytes: Array($0)) }
        return document
    }
}

extension DocumentCodec<BSONDocument> {
    /// Documents, unchanged.
    static var documents: Self {
        Self(
            encode: { document, body in try document.withUnsafeBytes(body) },
            decode: { BSONDocument(trustedBytes: Array($0)) }
        )
    }
}

extension DocumentCodec where Element: Codable {
    /// Values of a Codable type, with a property `id` stored as `_id`; a type that is `BSONWritable` or `BSONReadable`
    /// writes or reads its own fields.
    static func codable() -> Self {
        // A BSONDocument is stored unchanged: its own field `id` is not renamed.
        if let documents = DocumentCodec<BSONDocument>.documents as? Self { return documents }
        let (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        return Self(
            encode: { value, body in try encoder.withEncodedBytes(of: value, body) },
            decode: { try decoder.decode(Element.self, fromTrusted: $0) }
        )
    }
}
