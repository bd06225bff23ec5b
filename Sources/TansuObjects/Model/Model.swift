import Tansu

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
