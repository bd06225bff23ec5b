/// What a codec checks of a collection's type and of how its values are stored, before something would be wrong in silence.
protocol CodecChecks {
    /// Checks that what a query compares or sorts by is stored in the order of its type.
    ///
    /// - Parameters:
    ///   - query: A query, or the operations of an update.
    ///   - hints: Its hints, with the paths that it is sorted by.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func checkOrder(_ query: BSONDocument, _ hints: BSONDocument) throws

    /// Checks that documents of the type have its `id`, by which they can be found.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`.
    func checkStoresID() throws
}

extension DocumentCodec {
    /// A query and its hints in the form in which values are stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it compares or sorts by values that are not stored in their order.
    func stored(_ query: BSONDocument, _ hints: BSONDocument) throws -> (BSONDocument, BSONDocument) {
        let (query, hints) = (strategies.stored(query), strategies.stored(hints))
        try checkOrder(query, hints)
        return (query, hints)
    }

    /// The operations of an update in the form in which values are stored.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`, likewise.
    func stored(operations: BSONDocument) throws -> BSONDocument {
        try checkOrder(operations, [:])
        return strategies.stored(operations)
    }
}
