public import Tansu

extension Database {
    /// Uses a model: creates its collections and indexes, those of references among them, and records it.
    ///
    /// What is stored already is checked: the values at a new reference must be ids. Collections and record are one
    /// commit; indexes that are missing are built after it. A database that is read-only is used as it is.
    ///
    /// A database has one model while it is open. Using the same version again does nothing.
    ///
    /// - Parameter model: The model.
    /// - Throws: `TansuError` with `.invalidState` (it is used with another model already), `.version` (the database was
    ///   used with a later version), `.invalidDocument` (the value at a reference is no id; the context names the
    ///   document), `.invalidQuery` (the
    ///   stored name of a property is not known), as `collection(_:of:indexes:)`, or what a commit can throw. Then nothing
    ///   has changed.
    public func use(_ model: Model) throws {
        try ModelUse(self, model).run(cancelledBy: nil)
    }

    /// Uses a model.
    ///
    /// - Parameter model: The model.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func use(_ model: Model) async throws {
        try await runWriting { flag in try ModelUse(self, model).run(cancelledBy: flag) }
    }
}

/// Where the collections of a model's types are: a database, or a transaction.
public protocol ObjectSource: Sendable {
    /// The collection of a type that the model has.
    ///
    /// - Parameter type: The type.
    /// - Throws: `TansuError` with `.invalidState` without a model, `.invalidArgument` for a type that it does not have.
    func collection<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type
    ) throws -> Database.Collection<Element>
}

extension Database: ObjectSource {
    /// The collection of a type that the model has.
    ///
    /// - Parameter type: The type.
    /// - Throws: `TansuError` with `.invalidState` without a model, `.invalidArgument` for a type that it does not have.
    public func collection<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type
    ) throws -> Collection<Element> {
        try ModelRegistry.of(self).collection(of: type, in: Session(self))
    }
}

extension Database.Transaction: ObjectSource {
    /// The collection of a type that the model has, in this transaction.
    ///
    /// - Parameter type: The type.
    /// - Throws: As for a database, and `.invalidState` after the transaction's end.
    public func collection<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type
    ) throws -> Database.Collection<Element> {
        try ModelRegistry.of(session.database).collection(of: type, in: session)
    }
}
