extension BSONTypeRegistry {
    /// The document in which an object is stored: its `_id`, its type's name and its fields.
    ///
    /// - Parameter object: An object of a registered type, or an ``ArchivedObject``, whose document is as it is.
    /// - Throws: ``TansuError`` with `.misuse` (the type is not registered), `.invalidID` (an id that is neither an
    ///   ObjectID nor its 24 hexadecimal digits, or two different ones) or `.invalidDocument` (a field of its own
    ///   where the type's name belongs); what the object throws.
    public func archive(_ object: any BSONArchiving) throws -> BSONDocument {
        if let unknown = object as? ArchivedObject { return unknown.document }
        let type = Swift.type(of: object)
        let name = type.archivedTypeName
        guard self.type(named: name) == type else {
            throw TansuError(
                .misuse, "the type is not registered: its objects would not be found again as what they are",
                context: name)
        }
        let document = try object.toDocument()
        if let own = document[typeKey], own != .string(name) {
            throw TansuError(
                .invalidDocument, "the field is needed for the type's name; make a registry with another typeKey",
                context: "\(name).\(typeKey)")
        }
        var fields: [(String, BSONValue)] = []
        if let id = try id(of: document, type) { fields.append(("_id", .objectID(id))) }
        fields.append((typeKey, .string(name)))
        for (key, value) in document where key != "_id" && key != typeKey && key != type.oidPropertyName {
            fields.append((key, value))
        }
        return BSONDocument(fields)
    }

    /// The object that is stored in a document: of the registered type with its type name, or an
    /// ``ArchivedObject`` when there is none.
    ///
    /// - Parameter document: The document.
    /// - Throws: ``TansuError`` with `.invalidDocument` when the document has a field of the id's name beside its
    ///   `_id`; what the type's `init(document:)` throws.
    public func unarchive(_ document: BSONDocument) throws -> any BSONArchiving {
        guard let name = document[typeKey]?.stringValue else {
            return ArchivedObject(typeName: nil, document: document)
        }
        guard let type = type(named: name) else { return ArchivedObject(typeName: name, document: document) }
        return try type.init(document: fields(of: document, for: type))
    }

    /// The fields that an object of the type is told.
    func fields(of document: BSONDocument, for type: any BSONArchiving.Type) throws -> BSONDocument {
        let key = type.oidPropertyName
        if key != "_id", document.contains(key: "_id"), document.contains(key: key) {
            throw TansuError(
                .invalidDocument, "the document has a field that is called as the type calls its _id",
                context: "\(type.archivedTypeName).\(key)")
        }
        return BSONDocument(
            document.lazy.filter { $0.key != self.typeKey }.map { ($0.key == "_id" ? key : $0.key, $0.value) })
    }

    private func id(of document: BSONDocument, _ type: any BSONArchiving.Type) throws -> ObjectID? {
        let ids = Set(["_id", type.oidPropertyName]).compactMap { document[$0] }.filter { !$0.isNull }
        let valid = try ids.map { id in
            guard let objectID = id.objectIDValue ?? id.stringValue.flatMap(ObjectID.init) else {
                throw TansuError(
                    .invalidID,
                    "\(id.type == .string ? "\(id)" : "a value of type \(id.type)") cannot be the object's id:"
                        + " give an ObjectID, its 24 hexadecimal digits, or none",
                    context: "\(type.archivedTypeName).\(type.oidPropertyName)")
            }
            return objectID
        }
        guard Set(valid).count <= 1 else {
            throw TansuError(
                .invalidID, "the object gives one id as _id and another one under its own name for it",
                context: "\(type.archivedTypeName).\(type.oidPropertyName)")
        }
        return valid.first
    }
}
