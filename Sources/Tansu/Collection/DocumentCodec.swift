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

    init(
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
                    guard !isDictionary, try GeneratedID.check(document, of: value, decoder) else {
                        return try use(document)
                    }
                    var unidentified = BSONDocument(trustedBytes: Array(document))
                    unidentified["_id"] = nil
                    try unidentified.withUnsafeBytes(use)
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

// MARK: - Decoding

extension DocumentCodec {
    /// The value of a document, whose bytes are valid during the call only.
    ///
    /// - Throws: `DecodingError` that names the document; a `TansuError` of the type's own as it is.
    package func decode(_ bytes: UnsafeRawBufferPointer) throws -> Element {
        do {
            return try read(bytes)
        } catch {
            return try decodeDangling(bytes, error)
        }
    }

    /// The value of a document among many, or `nil` when it cannot be decoded and the policy skips it.
    package func decodeUnlessSkipped(_ bytes: UnsafeRawBufferPointer) throws -> Element? {
        do {
            return try decode(bytes)
        } catch {
            guard case .skipping(let report) = policy, !(error is CancellationError) else { throw error.advised }
            let document = BSONDocument(trustedBytes: Array(bytes))
            report(
                Database.UndecodableDocument(
                    collection: collection, id: document["_id"], document: document, error: error))
            return nil
        }
    }

    /// Whether documents that cannot be decoded are left out.
    var skips: Bool {
        if case .skipping = policy { true } else { false }
    }

    /// Decodes again without the references of joins that led nowhere: an id instead of a document.
    @inline(never)
    private func decodeDangling(_ bytes: UnsafeRawBufferPointer, _ failure: any Error) throws -> Element {
        let document = BSONDocument(trustedBytes: Array(bytes))
        if failure is DecodingError, !joins.isEmpty {
            let resolved = joins.reduce(document) { $0.removingReferences(at: $1.parts(separatedBy: ".")[...]) }
            if resolved != document, let element = try? resolved.withUnsafeBytes(read) { return element }
        }
        // Types that archive themselves have errors of their own, which callers expect.
        throw failure is DecodingError || context == nil ? document.naming(failure, in: collection) : failure
    }
}

extension BSONDocument {
    /// An error of decoding this document, with its name.
    ///
    /// - Parameter collection: The collection's name, or nothing.
    package func naming(_ error: any Error, in collection: String) -> any Error {
        if error is TansuError || error is CancellationError { return error }
        let id = self["_id"].map { " with _id \($0)" } ?? ""
        let origin = "in the document\(id)" + (collection.isEmpty ? "" : " of collection \"\(collection)\"")
        guard let error = error as? DecodingError else {
            return DecodingError.dataCorrupted(
                .init(
                    codingPath: [], debugDescription: "\(safeDescription(of: error)), \(origin)",
                    underlyingError: safeError(error)))
        }
        let path = error.fieldPath.map { " at \"\($0)\"" } ?? ""
        return error.with("\(error.context.debugDescription)\(path), \(origin)")
    }

    /// The document without what is no document at a path: a missing field, or missing elements of an array.
    fileprivate func removingReferences(at path: ArraySlice<String>) -> BSONDocument {
        guard let key = path.first, let value = self[key] else { return self }
        var result = self
        result[key] = value.removingReferences(at: path.dropFirst())
        return result
    }
}

extension BSONValue {
    /// The value without what is no document at a path; `nil` when it is none itself.
    fileprivate func removingReferences(at path: ArraySlice<String>) -> BSONValue? {
        switch self {
        case .document(let document): return .document(document.removingReferences(at: path))
        case .array(let array): return BSONValue(array.compactMap { $0.removingReferences(at: path) })
        // A literal nil would be a BSONValue: null.
        default: return path.isEmpty && !isNull ? Optional<BSONValue>.none : self
        }
    }
}

extension DecodingError {
    /// Where it was, and why.
    var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "\(self)")
        }
    }

    /// The dotted path of the field; `nil` for the document itself.
    fileprivate var fieldPath: String? {
        var keys = context.codingPath
        if case .keyNotFound(let key, _) = self { keys.append(key) }
        if keys.isEmpty { return nil }
        return keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    /// The same error with another text.
    func with(_ text: String) -> Self {
        let context = Context(
            codingPath: context.codingPath, debugDescription: text, underlyingError: context.underlyingError)
        return switch self {
        case .typeMismatch(let type, _): .typeMismatch(type, context)
        case .valueNotFound(let type, _): .valueNotFound(type, context)
        case .keyNotFound(let key, _): .keyNotFound(key, context)
        case .dataCorrupted: .dataCorrupted(context)
        @unknown default: self
        }
    }
}

extension Error {
    /// The error of a call that reads many documents, with what to do.
    fileprivate var advised: any Error {
        guard let error = self as? DecodingError else { return self }
        return error.with(
            error.context.debugDescription
                + "; correct the document or the type, or leave such documents out with decoding(.skipping())")
    }
}

// MARK: - CodecChecks

/// What a codec checks of a collection's type and of how its values are stored, before something would be wrong in silence.
protocol CodecChecks {
    /// Checks that what a query sorts by is stored in the order of its type.
    ///
    /// - Parameter hints: The hints of the query, with the paths that it is sorted by.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func checkOrder(_ hints: BSONDocument) throws

    /// Checks that documents of the type have its `id`, by which they can be found.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`.
    func checkStoresID() throws
}
