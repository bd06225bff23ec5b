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
