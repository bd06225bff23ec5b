/// How the values of a collection become documents and come back.
struct DocumentCodec<Element: Sendable>: Sendable {
    /// Calls the closure with the value's document, whose bytes are valid inside it only.
    let encode: @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The value of a document, whose bytes are valid during the call only.
    let decode: @Sendable (UnsafeRawBufferPointer) throws -> Element

    /// The registry of a collection of objects.
    var types: BSONTypeRegistry?

    /// The value's document.
    func document(of element: Element) throws -> BSONDocument {
        var document: BSONDocument = [:]
        try encode(element) { document = BSONDocument(trustedBytes: Array($0)) }
        return document
    }
}

extension DocumentCodec<BSONDocument> {
    /// Documents as they are.
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
        // A BSONDocument is stored as it is: its own field `id` is not ours to rename.
        if let documents = DocumentCodec<BSONDocument>.documents as? Self { return documents }
        let (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        return Self(
            encode: { value, body in try encoder.withEncodedBytes(of: value, body) },
            decode: { try decoder.decode(Element.self, fromTrusted: $0) }
        )
    }
}
