extension Database.Collection {
    /// The dotted path at which a property is stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it is not known (see ``StoredFieldNaming``).
    package func storedPath<Value>(of keyPath: KeyPath<Element, Value>) throws -> String {
        try find().path(of: keyPath)
    }

    /// The dotted path at which the elements of an array store a property.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it is not known.
    package func storedPath<Part, Value>(
        of array: KeyPath<Element, [Part]>, elements keyPath: KeyPath<Part, Value>
    ) throws -> String {
        let names = NamingScope(session, name)
        let place = try names.path(of: array, in: .document)
        let property = try names.path(of: keyPath, in: place.element)
        try names.verify([:])
        return try FieldPath(keys: place.keys + property.keys).dotted()
    }
}
