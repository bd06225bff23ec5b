extension Database.Field where Value: QueryReference {
    /// A property of the document that the reference is to; nil where there is none.
    @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value.QueryTarget, Member>) -> Database.Field<Member?> {
        referenced().member(keyPath)
    }

    /// An optional property of the document that the reference is to; nil where there is none.
    @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value.QueryTarget, Member?>) -> Database.Field<Member?> {
        referenced().member(keyPath)
    }

    /// The `_id` that is stored for the reference.
    public var id: Database.Field<Value.QueryTargetID> { field { $0 } }

    /// The document that the reference is to.
    private func referenced() -> Database.Field<Value.QueryTarget> {
        do {
            let place = try path.get()
            let collection = try names.referencedCollection(at: place)
            let others = names.scope(of: collection)
            return Database.Field(
                .success(.document), others,
                hops: hops + [ReferenceHop(path: place, collection: collection, names: others)])
        } catch {
            let error = error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))
            return Database.Field(.failure(error), names, hops: hops)
        }
    }
}

extension Database.Field {
    /// Some document of another collection refers to this one, and meets a condition:
    /// `authors.find { $0.isReferenced(by: \.author, in: books) { $0.year > 1970 } }`.
    ///
    /// - Parameters:
    ///   - keyPath: The property with the reference, or with several.
    ///   - collection: The collection of the documents that have it.
    ///   - condition: What they have to meet; any will do without it.
    public func isReferenced<Other, Property>(
        by keyPath: KeyPath<Other, Property>, in collection: Database.Collection<Other>,
        _ condition: (Database.Field<Other>) -> Database.Condition = { _ in .raw([:]) }
    ) -> Database.Condition {
        let others = names.scope(of: collection.name, collection.codec.strategies)
        let clause = condition(Database.Field<Other>(.document, others)).clause
        return self.condition { place in
            let reference = try others.path(of: keyPath, in: .document).dotted()
            let query = try others.coding { try clause.document() }
            // The reference to a document is its _id; that of a reference is what is stored for it.
            let own = place.isDocument ? place.appending(["_id"]) : place
            return .test(
                own,
                [
                    "$in": [
                        "$from": .string(collection.name), "$field": .string(reference),
                        "$query": .document(query),
                    ]
                ])
        }
    }
}
