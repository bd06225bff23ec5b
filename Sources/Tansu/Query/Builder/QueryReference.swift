/// A value that is stored as the `_id` of a document of another collection.
///
/// In queries by key path, the properties of that document are reached through it: `$0.author.name == "Le Guin"`. The
/// model that the database is used with says which collection it is in (`Database.use(_:)` of the module `TansuObjects`).
public protocol QueryReference: QueryValue {
    /// The type of the document that it refers to.
    associatedtype QueryTarget

    /// The type of its `_id`.
    associatedtype QueryTargetID
}

extension Optional: QueryReference where Wrapped: QueryReference {
    /// The type of the document that the wrapped value refers to.
    public typealias QueryTarget = Wrapped.QueryTarget

    /// The type of its `_id`.
    public typealias QueryTargetID = Wrapped.QueryTargetID
}
