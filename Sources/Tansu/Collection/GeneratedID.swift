/// The `ObjectID` that a document without an `_id` gets when it is saved. The type of a value whose id is nil must be able
/// to read it, or the document could not be decoded any more.
enum GeneratedID {
    /// The types that can, or that read no id.
    private static let readers = Locked<Set<ObjectIdentifier>>([])

    /// Checks the document of a value that is about to be saved.
    ///
    /// - Returns: Whether the document has a null for an id that is nil: it must be saved without it.
    /// - Throws: ``TansuError`` with `.invalidID`.
    static func check<Element: Decodable>(
        _ document: UnsafeRawBufferPointer, of element: Element, _ decoder: BSONDecoder
    ) throws -> Bool {
        let idType = document.idType
        guard idType == nil || idType == .null else { return false }
        try check(unidentified: document, of: element, decoder)
        return idType == .null
    }

    private static func check<Element: Decodable>(
        unidentified document: UnsafeRawBufferPointer, of element: Element, _ decoder: BSONDecoder
    ) throws {
        let type = Element.self
        if let element = element as? any Identifiable, hasID(element) { throw TansuError(computedIDOf: type) }
        if readers.withLock({ $0.contains(ObjectIdentifier(type)) }) { return }
        var stored = BSONDocument(trustedBytes: Array(document))
        stored["_id"] = nil
        do {
            _ = try decoder.decode(type, from: stored.withID(.objectID(ObjectID())))
        } catch {
            guard (error as? DecodingError)?.isAboutID ?? false else { return }
            throw TansuError(
                .invalidID,
                "A value of type \"\(type)\" has no id, and its type could not read the ObjectID that it would get; set the"
                    + " id before it is saved, or declare it as ObjectID?", context: "_id")
        }
        readers.withLock { _ = $0.insert(ObjectIdentifier(type)) }
    }

    /// Checks a document that an update has inserted with an `ObjectID`.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`. What else the type cannot read of it is not checked.
    static func check<Element>(inserted document: UnsafeRawBufferPointer, _ codec: DocumentCodec<Element>) throws {
        let type = Element.self
        if readers.withLock({ $0.contains(ObjectIdentifier(type)) }) { return }
        do {
            _ = try codec.read(document)
        } catch {
            guard (error as? DecodingError)?.isAboutID ?? false else { return }
            throw TansuError(
                .invalidID,
                "The update inserts a document without an _id, and \"\(type)\" could not read the ObjectID that it would"
                    + " get; give it one by the query or by $setOnInsert, or use upsert(where:inserting:)",
                context: "_id")
        }
        readers.withLock { _ = $0.insert(ObjectIdentifier(type)) }
    }

    /// The name of the only stored property that has the type of the id; `nil` when there is none, or are several.
    static func source(of type: any Any.Type) -> String? {
        func idType<Value: Identifiable>(of type: Value.Type) -> any Any.Type { Value.ID.self }
        guard let identifiable = type as? any Identifiable.Type else { return nil }
        let id = idType(of: identifiable)
        let sources = RuntimeReflection.properties(of: type).filter { $0.type == id && $0.name != "id" }
        return sources.count == 1 ? sources[0].name : nil
    }

    /// Whether a value has an id that could be stored; the id of a class may be that of the instance.
    private static func hasID<Value: Identifiable>(_ value: Value) -> Bool {
        guard let id = value.id as? any Encodable else { return false }
        return (try? BSONEncoder().encodeValue(id)).map { !$0.isNull } ?? false
    }
}

extension TansuError {
    /// The error for a type whose documents do not have its `id`.
    init(computedIDOf type: any Any.Type) {
        let example = GeneratedID.source(of: type).map { ", as in case \($0) = \"_id\"" } ?? ""
        self.init(
            .invalidID,
            "The id of \"\(type)\" is not stored, so that no document could be found by it; give the property that it is"
                + " computed of the coding key \"_id\"\(example), or store a property id",
            context: "_id")
    }
}

extension UnsafeRawBufferPointer {
    /// The type of the document's `_id`; `nil` when it has none.
    fileprivate var idType: BSONType? {
        var offset = 4
        while let element = element(at: offset, end: count - 1) {
            if element.keyLength == 3, self[element.keyStart..<element.keyStart + 3].elementsEqual("_id".utf8) {
                return element.type
            }
            offset = element.valueEnd
        }
        return nil
    }
}

extension DecodingError {
    /// Whether it is about the id of the document.
    fileprivate var isAboutID: Bool {
        var path = context.codingPath
        if case .keyNotFound(let key, _) = self { path.append(key) }
        guard let key = path.first?.stringValue else { return false }
        return key.utf8.elementsEqual("_id".utf8) || key.utf8.elementsEqual("id".utf8)
    }
}
