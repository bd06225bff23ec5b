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
