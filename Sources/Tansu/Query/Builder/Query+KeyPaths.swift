public import Foundation

extension Database.Collection {
    /// A query for the documents that match a condition on the properties of their type.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }
    ///     .sorted(by: \.age, .descending)
    ///     .limit(10)
    ///     .all()
    /// ```
    ///
    /// The query's `filter` is the equivalent document, without order and limit; `remove(_:)` and `update(_:_:)` take
    /// the query itself.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known
    ///   (see ``StoredFieldNaming``), or a value cannot be stored; `.tooLarge` for conditions that are nested too deep.
    public func find(
        _ condition: (Database.Field<Element>) -> Database.Condition
    ) throws -> Database.Query<Element> {
        let names = scope
        let filter = try names.coding { try condition(Database.Field(.document, names)).clause.document() }
        return find(stored: filter)
    }

    /// A query for documents that match a filter with its values as they are stored.
    package func find(stored filter: BSONDocument) -> Database.Query<Element> {
        Database.Query(session: session, collection: name, codec: codec, filter: filter, hints: [:])
    }
}

// MARK: - Key paths

extension Database.Query {
    /// Those of the same documents that also match a condition on the properties of their type.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: As `find` with a condition.
    public func and(_ condition: (Database.Field<Element>) -> Database.Condition) throws -> Self {
        and(try ownCollection.find(condition))
    }

    /// The same documents sorted by a property. Further calls add less significant sort keys.
    ///
    /// - Parameters:
    ///   - keyPath: The property: `\.age`, `\.pet?.species`.
    ///   - direction: The least or the greatest first.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of the property is not known
    ///   (see ``StoredFieldNaming``).
    public func sorted<Value>(
        by keyPath: KeyPath<Element, Value>, _ direction: SortDirection = .ascending
    ) throws -> Self {
        try checkOrder(of: keyPath)
        return sorted(by: try path(of: keyPath), direction)
    }

    /// The dotted path of a property of the documents.
    func path<Value>(of keyPath: KeyPath<Element, Value>) throws -> String {
        try ownCollection.scope.path(of: keyPath, in: .document).dotted()
    }
}

// MARK: - Projection

extension Database.Query {
    /// The same documents decoded as another type, with only the fields that it reads.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct Name: Codable { var id: ObjectID; var name: String }
    /// let names = try people.find { $0.age > 10 }.projected(to: Name.self).all()
    /// ```
    ///
    /// The fields are those of the type's coding keys; a type with stored properties that have no coding key is decoded
    /// from whole documents. With an index over all the fields no document is read.
    ///
    /// - Parameter type: What documents are decoded as.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the type's coding keys are not an enum; then use ``fields(_:)`` and
    ///   ``decoded(as:)``.
    public func projected<Other: Codable & Sendable>(to type: Other.Type) throws -> Database.Query<Other> {
        guard let keys = try StoredFieldNames.keysRead(by: type) else { return decoded(as: type) }
        var fields: BSONDocument = [:]
        for key in keys { fields[try FieldPath(keys: [key]).dotted()] = 1 }
        if !keys.contains("_id") { fields["_id"] = 0 }
        return self.fields(fields).decoded(as: type)
    }
}

// MARK: - Locale

extension Database.Query {
    /// All the documents, sorted by a text as people of a language expect: `ä` next to `a`, `Zoe` after `adam`, `file 10`
    /// after `file 9`.
    ///
    /// They are sorted in memory, after all of them were read: an index does not help, and a query's `limit` counts before.
    /// Queries themselves sort text by its Unicode scalars, which is the same everywhere.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    /// - Returns: The documents; those with equal texts in the query's order.
    /// - Throws: As `all()`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String>, _ direction: SortDirection = .ascending, locale: Locale
    ) throws -> [Element] {
        try all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by an optional text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    /// - Throws: As `all()`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String?>, _ direction: SortDirection = .ascending, locale: Locale
    ) throws -> [Element] {
        try all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by a text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    ///   - isolation: The actor on which the documents are sorted: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String>, _ direction: SortDirection = .ascending, locale: Locale,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by an optional text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    ///   - isolation: The actor on which the documents are sorted: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String?>, _ direction: SortDirection = .ascending, locale: Locale,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }
}

extension Array {
    /// The elements sorted by a text as people of a language expect; stable.
    fileprivate func sorted(
        by text: (Element) -> String?, _ direction: SortDirection, _ locale: Locale
    ) -> [Element] {
        let wanted: ComparisonResult = direction == .ascending ? .orderedAscending : .orderedDescending
        return map { (text($0), $0) }.sorted { a, b in
            guard let first = a.0, let second = b.0 else {
                return direction == .ascending ? a.0 == nil && b.0 != nil : a.0 != nil && b.0 == nil
            }
            return first.compare(second, options: .numeric, range: nil, locale: locale) == wanted
        }.map(\.1)
    }
}

// MARK: - Collection: timestamps

extension Database.Collection {
    /// The documents that were last saved before a date, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameter date: The date, which is not included.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` for a date that is NaN.
    public func find(savedBefore date: Date) throws -> Database.Query<Element> {
        try saved(["$lt": try checked(date)])
    }

    /// The documents that were last saved after a date, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameter date: The date, which is not included.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` for a date that is NaN.
    public func find(savedAfter date: Date) throws -> Database.Query<Element> {
        try saved(["$gt": try checked(date)])
    }

    /// The documents that were last saved on a day, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameters:
    ///   - date: A date on the day.
    ///   - calendar: The calendar, whose time zone says when the day begins and ends.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` when the calendar has no such day, or the date is not finite.
    public func find(savedOn date: Date, in calendar: Calendar = .current) throws -> Database.Query<Element> {
        guard date.timeIntervalSince1970.isFinite, let day = calendar.dateInterval(of: .day, for: date) else {
            throw TansuError(.invalidArgument, "The calendar has no day of that date; use another one", context: "date")
        }
        return try saved(["$gte": .date(day.start), "$lt": .date(day.end)])
    }

    /// The date in a query; a date that is NaN would be the least one there.
    private func checked(_ date: Date) throws -> BSONValue {
        if date.timeIntervalSince1970.isNaN {
            throw TansuError(.invalidArgument, "The date is NaN, which is no time; pass a time", context: "date")
        }
        return .date(date)
    }

    /// A query for when documents were saved, which is a date whatever the coding strategies of the collection say.
    private func saved(_ condition: BSONDocument) throws -> Database.Query<Element> {
        Database.Query(
            session: session, collection: name, codec: codec, filter: [try savedField(): .document(condition)],
            hints: [:])
    }

    private func savedField() throws -> String {
        guard let field = try session.collectionInfo(name)?.timestamps?.updatedPath else {
            throw TansuError(
                .invalidState,
                "The collection \"\(name)\" does not keep when its documents were saved; set its timestamps",
                context: name)
        }
        return field
    }
}

extension Database.Timestamps {
    /// The path of the field, for queries and indexes: a name may have characters that mean something in a path.
    package var createdPath: String? { created.map(FieldPath.escaped) }

    /// The path of the field, likewise.
    package var updatedPath: String? { updated.map(FieldPath.escaped) }
}

// MARK: - Collection: stored path

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

// MARK: - DocumentCodec: checks

extension DocumentCodec: CodecChecks {
    package func checkOrder(_ hints: BSONDocument) throws {
        // The type of a document says nothing of its fields.
        guard Element.self != BSONDocument.self else { return }
        for path in hints["$orderby"]?.documentValue?.keys ?? [] {
            try StoredOrder.check(path: path, of: Element.self, strategies)
        }
    }

    package func checkStoresID() throws {
        if StoredForm.lacksID(Element.self) { throw TansuError(computedIDOf: Element.self) }
    }
}
