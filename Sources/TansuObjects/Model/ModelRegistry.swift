import Foundation
import Tansu

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
