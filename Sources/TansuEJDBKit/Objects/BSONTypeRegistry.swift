import Foundation
import Tansu

/// A registry of types by their type names.
///
/// Every database has one, its property `types`; several may share one that you make. The names in a registry are
/// unique.
///
/// For example:
///
/// ```swift
/// try db.types.register(Pet.self)
/// let zoo = try db.objects("zoo")
/// try zoo.save(Pet(name: "tom"))
/// ```
///
/// `@unchecked Sendable`: the types are touched under the lock only.
public final class BSONTypeRegistry: @unchecked Sendable {
    /// The field that holds the type's name.
    public let typeKey: String

    private let lock = NSLock()
    private var types: [String: any BSONArchiving.Type] = [:]

    /// Makes a registry of no types.
    ///
    /// - Parameter typeKey: The field that holds the type's name. No type may have a field of its own with this
    ///   name.
    public init(typeKey: String = "type") {
        self.typeKey = typeKey
    }

    /// Makes a registry of some types.
    ///
    /// - Parameters:
    ///   - types: The types.
    ///   - typeKey: The field that holds the type's name.
    /// - Throws: As ``register(_:)``.
    public convenience init(_ types: [any BSONArchiving.Type], typeKey: String = "type") throws {
        self.init(typeKey: typeKey)
        for type in types { try register(type) }
    }

    /// Registers a type for the documents with its type name. A second call does nothing.
    ///
    /// - Parameter type: The type.
    /// - Throws: `TansuError` with `.exists` (another type has the name), or `.invalidArgument` (a name that is
    ///   empty, or a name of the id that is empty or that of the type's field).
    public func register(_ type: any BSONArchiving.Type) throws {
        let (name, key) = (type.archivedTypeName, type.oidPropertyName)
        guard !name.isEmpty else {
            throw TansuError(
                .invalidArgument, "The archivedTypeName of type \"\(type)\" is empty; return a name",
                context: String(describing: type))
        }
        guard !key.isEmpty, key != typeKey, !key.utf8.contains(0) else {
            throw TansuError(
                .invalidArgument,
                "\"\(key)\" cannot be the oidPropertyName; return the name of the property that has the id",
                context: name)
        }
        try lock.withLock {
            if let known = types[name], known != type {
                throw TansuError(
                    .exists,
                    "The type name \"\(name)\" is registered for another type; give one of them an archivedTypeName",
                    context: name)
            }
            types[name] = type
        }
    }

    /// The type with a name, or `nil`.
    ///
    /// - Parameter name: The name that is stored with its documents.
    public func type(named name: String) -> (any BSONArchiving.Type)? {
        lock.withLock { types[name] }
    }
}
