import Tansu

extension DocumentCodec where Element == any BSONArchiving {
    /// Objects of all types of a registry.
    static func archiving(_ types: BSONTypeRegistry) -> Self {
        Self(
            encode: { object, body in try types.archive(object).withUnsafeBytes(body) },
            decode: { try types.unarchive(BSONDocument(trustedBytes: Array($0))) },
            context: types
        )
    }
}

extension DocumentCodec where Element: BSONArchiving {
    /// Objects of one type of a registry.
    static func archiving(only type: Element.Type, _ types: BSONTypeRegistry) -> Self {
        Self(
            encode: { object, body in try types.archive(object).withUnsafeBytes(body) },
            decode: { bytes in
                let object = try types.unarchive(BSONDocument(trustedBytes: Array(bytes)))
                guard let element = object as? Element else {
                    let found = (object as? ArchivedObject).map { $0.typeName ?? "no type" }
                    throw TansuError(
                        .invalidDocument,
                        "The document is of type \"\(found ?? Swift.type(of: object).archivedTypeName)\"; find it with"
                            + " objects(_:), or query for documents with this type name only",
                        context: type.archivedTypeName)
                }
                return element
            },
            context: types
        )
    }
}
