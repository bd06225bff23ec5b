import Foundation
public import Tansu

/// The types whose values a database stores, their collections and their references.
///
/// ```swift
/// let model = try Model {
///     Entity("authors", of: Author.self)
///     Entity("tags", of: Tag.self)
///     Entity("books", of: Book.self)
///         .reference(\.author, to: "authors")
///         .reference(\.tags, to: "tags")
/// }
/// try db.use(model)
/// let books = try db.collection(of: Book.self)
/// ```
public struct Model: Sendable {
    /// The version of the app's model. A database that was used with a greater one is not used with this one.
    public let version: Int

    let entities: [AnyEntity]

    /// A model of entities, each with a type and a collection of its own.
    ///
    /// - Parameters:
    ///   - version: The version of the app's model, greater than the last one whenever the references change.
    ///   - entities: The entities.
    /// - Throws: `TansuError` with `.invalidArgument`: two entities have the same type or collection, or a reference is to
    ///   a collection that no entity has, or that of another type.
    public init(version: Int = 1, @ModelBuilder _ entities: () -> [AnyEntity]) throws {
        self.version = version
        self.entities = entities()
        try check()
    }

    private func check() throws {
        var types: [ObjectIdentifier: AnyEntity] = [:]
        var collections: [BytewiseText: AnyEntity] = [:]
        for entity in entities {
            if let other = types.updateValue(entity, forKey: entity.type) {
                throw TansuError(
                    .invalidArgument,
                    "The type \"\(entity.typeName)\" is in two collections of the model, \"\(other.collection)\" and"
                        + " \"\(entity.collection)\"; give each collection a type of its own",
                    context: entity.typeName)
            }
            if let other = collections.updateValue(entity, forKey: BytewiseText(entity.collection)) {
                throw TansuError(
                    .invalidArgument,
                    "The collection \"\(entity.collection)\" has two types in the model, \"\(other.typeName)\" and"
                        + " \"\(entity.typeName)\"; remove one of them",
                    context: entity.collection)
            }
        }
        for entity in entities {
            for reference in entity.references { try reference.check(in: entity, collections) }
        }
    }
}

/// Makes the list of entities of a ``Model``.
@resultBuilder
public enum ModelBuilder {
    /// An entity.
    public static func buildExpression<Element>(_ entity: Entity<Element>) -> [AnyEntity] {
        [AnyEntity(entity)]
    }

    /// Entities one after another.
    public static func buildBlock(_ parts: [AnyEntity]...) -> [AnyEntity] { parts.flatMap { $0 } }

    /// Entities that are there under a condition.
    public static func buildOptional(_ part: [AnyEntity]?) -> [AnyEntity] { part ?? [] }

    /// The first of two alternatives.
    public static func buildEither(first part: [AnyEntity]) -> [AnyEntity] { part }

    /// The second of two alternatives.
    public static func buildEither(second part: [AnyEntity]) -> [AnyEntity] { part }

    /// Entities that a loop makes.
    public static func buildArray(_ parts: [[AnyEntity]]) -> [AnyEntity] { parts.flatMap { $0 } }
}

// MARK: - Database: model

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

// MARK: - ModelRegistry

/// The model that a database is used with.
///
/// `@unchecked Sendable`: the model is touched under the lock only.
final class ModelRegistry: @unchecked Sendable {
    private let lock = NSLock()
    private var current: (model: Model, entities: [ObjectIdentifier: AnyEntity])?

    /// That of a database.
    static func of(_ database: Database) -> ModelRegistry {
        database.attachment(ModelRegistry.self) { ModelRegistry() }
    }

    /// The model, if there is one.
    var model: Model? { lock.withLock { current?.model } }

    func set(_ model: Model) {
        let entities = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.type, $0) })
        lock.withLock { current = (model, entities) }
    }

    /// The entity of a type.
    ///
    /// - Throws: `TansuError` with `.invalidState` without a model, `.invalidArgument` for a type that it does not have.
    func entity(of type: any Any.Type) throws -> AnyEntity {
        let (hasModel, entity) = lock.withLock { (current != nil, current?.entities[ObjectIdentifier(type)]) }
        if let entity { return entity }
        let name = String(reflecting: type)
        guard hasModel else {
            throw TansuError(
                .invalidState,
                "The database has no model, so that the collection of \"\(name)\" is not known; call use(_:)",
                context: name)
        }
        throw TansuError(
            .invalidArgument, "The type \"\(name)\" is not in the model of the database; add its entity", context: name)
    }

    /// The collection of a type, in a session.
    func collection<Element: Sendable>(
        of type: Element.Type, in session: Session
    ) throws -> Database.Collection<Element> {
        let entity = try entity(of: type)
        guard let collection = try entity.makeCollection(session) as? Database.Collection<Element> else {
            throw TansuError(
                .invalidArgument, "The entity has another type; report this error", context: entity.typeName)
        }
        return collection
    }
}
