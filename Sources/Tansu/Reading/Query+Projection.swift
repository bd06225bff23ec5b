extension Database.Query {
    /// The same documents as another type, with no more of their fields than it reads.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct Name: Codable { var id: ObjectID; var name: String }
    /// let names = try people.find { $0.age > 10 }.projected(to: Name.self).all()
    /// ```
    ///
    /// Which fields that are is found by decoding made-up values of the type. An index that has them all saves reading
    /// the documents.
    ///
    /// - Parameter type: What documents are decoded as.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the type cannot be decoded from made-up values, or does not say
    ///   which keys it reads; then use ``fields(_:)`` and ``decoded(as:)``.
    public func projected<Other: Codable & Sendable>(to type: Other.Type) throws -> Database.Query<Other> {
        let keys = try StoredNames.shared.keysRead(by: type)
        var fields: BSONDocument = [:]
        for key in keys { fields[try FieldPlace(depth: 0, keys: [key]).path()] = 1 }
        if !keys.contains("_id") { fields["_id"] = 0 }
        return self.fields(fields).decoded(as: type)
    }
}
