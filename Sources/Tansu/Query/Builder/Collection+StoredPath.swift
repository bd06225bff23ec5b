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
    package func storedPath<Parts: QueryArray, Value>(
        of array: KeyPath<Element, Parts>, elements keyPath: KeyPath<Parts.QueryElement, Value>
    ) throws -> String {
        let names = scope
        let place = try names.path(of: array, in: .document)
        let property = try names.path(of: keyPath, in: place.element)
        try names.verify([:])
        return try FieldPath(keys: place.keys + property.keys).dotted()
    }
}

/// What is known of the stored property that a key path leads to.
package enum StoredProperty {
    /// Whether values of a type, and those of the properties in it, are stored in one form by two collections.
    package static func isStoredAlike(
        _ type: any Any.Type, _ one: BSONCodingStrategies, _ other: BSONCodingStrategies
    ) -> Bool {
        if let isAlike = one.storesAlike(type, as: other) { return isAlike }
        if let wrapped = (type as? any OptionalValue.Type)?.wrappedType { return isStoredAlike(wrapped, one, other) }
        if let elements = StoredOrder.element(ofArray: type) { return isStoredAlike(elements, one, other) }
        if type is any QueryValue.Type || type is AnyObject.Type { return true }
        return RuntimeReflection.properties(of: type).allSatisfy { isStoredAlike($0.type, one, other) }
    }

    /// Its type as it is declared; `nil` where that is not known. It is no optional where only a property on the way is one, as in
    /// `\.visit?.technician`, whose value is.
    package static func declaredType(of keyPath: AnyKeyPath) -> (any Any.Type)? {
        guard case .stored(let steps) = KeyPathShape(keyPath) else { return nil }
        return steps.last?.property.type
    }
}
