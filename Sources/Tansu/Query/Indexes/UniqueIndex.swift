/// What a unique index cannot do: keep values apart that are stored as arrays, of which it has each element.
enum UniqueIndex {
    /// Checks the paths of a unique index on documents of a type.
    ///
    /// - Throws: ``TansuError`` with `.invalidIndex`.
    static func check(_ keys: [Database.IndexKey], of type: any Any.Type) throws {
        for key in keys {
            guard let property = SwiftKeyPath.propertyType(atPath: key.path, of: type) else { continue }
            try check(property, at: key.path)
        }
    }

    /// Checks the type of a property. Arrays and sets may be in a unique index: no two documents have the same element.
    ///
    /// - Throws: ``TansuError`` with `.invalidIndex`.
    static func check(_ type: any Any.Type, at location: String) throws {
        let type = (type as? any OptionalValue.Type)?.wrappedType ?? type
        guard StoredForm.isTakenApart(type) else { return }
        throw TansuError(
            .invalidIndex,
            "Values of type \"\(type)\" are stored as arrays, and a unique index would compare their elements one by one; store"
                + " them as one value, such as a number, or compare them in a transaction", context: location)
    }
}
