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
    /// The fields are determined by decoding sample values of the type. With an index over all of them no document is
    /// read.
    ///
    /// - Parameter type: What documents are decoded as.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the type cannot be decoded from sample values, or reads the
    ///   list of all keys; then use ``fields(_:)`` and ``decoded(as:)``.
    public func projected<Other: Codable & Sendable>(to type: Other.Type) throws -> Database.Query<Other> {
        let keys = try StoredFieldNames.shared.keysRead(by: type)
        var fields: BSONDocument = [:]
        for key in keys { fields[try FieldPath(depth: 0, keys: [key]).dotted()] = 1 }
        if !keys.contains("_id") { fields["_id"] = 0 }
        return self.fields(fields).decoded(as: type)
    }
}
