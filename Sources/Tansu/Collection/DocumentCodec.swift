/// Encodes the values of a collection as documents, and decodes them.
package struct DocumentCodec<Element: Sendable>: Sendable {
    /// Calls the closure with the value's document, whose bytes are valid inside it only.
    package let encode: @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void

    /// The value of a document, whose bytes are valid during the call only.
    let read: @Sendable (UnsafeRawBufferPointer) throws -> Element

    /// A value of the module that made the codec.
    package let context: (any Sendable)?

    /// How values are stored, which those in queries follow.
    let strategies: BSONCodingStrategies

    /// The collection, for errors.
    var collection = ""

    /// What happens to documents that cannot be decoded.
    var policy = Database.DecodingPolicy.strict

    /// The paths at which a query joins documents.
    var joins: [String] = []

    package init(
        encode: @escaping @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void,
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Element,
        context: (any Sendable)? = nil
    ) {
        self.init(strategies: BSONCodingStrategies(), encode: encode, decode: decode, context: context)
    }

    private init(
        strategies: BSONCodingStrategies,
        encode: @escaping @Sendable (Element, (UnsafeRawBufferPointer) throws -> Void) throws -> Void,
        decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Element,
        context: (any Sendable)? = nil
    ) {
        self.strategies = strategies
        self.encode = encode
        read = decode
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
    package static var documents: Self {
        Self(
            encode: { document, body in try document.withUnsafeBytes(body) },
            decode: { BSONDocument(trustedBytes: Array($0)) }
        )
    }
}

extension DocumentCodec where Element: Codable {
    /// Values of a Codable type, with a property `id` stored as `_id`; a type that is `BSONWritable` or `BSONReadable`
    /// writes or reads its own fields.
    package static func codable(_ strategies: BSONCodingStrategies = BSONCodingStrategies()) -> Self {
        // A BSONDocument is stored unchanged: its own field `id` is not renamed.
        if let documents = DocumentCodec<BSONDocument>.documents as? Self { return documents }
        var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        encoder.strategies = strategies
        decoder.strategies = strategies
        let isDictionary = Element.self is any FieldDictionary.Type
        return Self(
            strategies: strategies,
            encode: { [encoder, decoder] value, use in
                try encoder.withEncodedBytes(of: value) { document in
                    if !isDictionary { try GeneratedID.check(document, of: value, decoder) }
                    try use(document)
                }
            },
            decode: { [decoder] bytes in
                if isDictionary { return try decoder.decodeFields(Element.self, bytes) }
                return try decoder.decode(Element.self, fromTrusted: bytes)
            }
        )
    }

    /// The codec of another type of the same collection.
    static func codable(like other: DocumentCodec<some Sendable>) -> Self {
        var codec = codable(other.strategies)
        codec.collection = other.collection
        codec.policy = other.policy
        return codec
    }
}

/// A dictionary, which has every field of a document as a value.
private protocol FieldDictionary {}

extension Dictionary: FieldDictionary where Key == String {}

extension BSONDecoder {
    /// The dictionary of a document's fields: without its `_id` where that is not of the values' type, as an ObjectId among
    /// numbers.
    fileprivate func decodeFields<Fields: Decodable>(
        _ type: Fields.Type, _ bytes: UnsafeRawBufferPointer
    ) throws -> Fields {
        do {
            return try decode(type, fromTrusted: bytes)
        } catch let failure as DecodingError {
            var document = BSONDocument(trustedBytes: Array(bytes))
            guard document.removeValue(forKey: "_id") != nil else { throw failure }
            return try decode(type, from: document)
        }
    }
}
