extension Database {
    /// The `nil` that any optional field can be compared with.
    public struct Nothing: ExpressibleByNilLiteral, Sendable {
        /// The one value.
        public init(nilLiteral: ()) {}
    }
}

extension Database.Field {
    /// There is no value: the field is missing or null.
    @_disfavoredOverload
    public static func == <Wrapped>(field: Self, nothing: Database.Nothing) -> Database.Condition
    where Value == Wrapped? {
        field.condition { !.isPresent($0) }
    }

    /// There is a value.
    @_disfavoredOverload
    public static func != <Wrapped>(field: Self, nothing: Database.Nothing) -> Database.Condition
    where Value == Wrapped? {
        field.condition { .isPresent($0) }
    }

    /// The document has the field, even if it is null: `$exists`. Encoding omits properties that are nil, so that `!=
    /// nil` is equivalent for documents that were saved from this type.
    public func exists() -> Database.Condition {
        condition { .test($0, ["$exists": true]) }
    }
}
