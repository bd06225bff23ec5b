import Foundation
public import Tansu

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

// MARK: - Archiving

extension BSONTypeRegistry {
    /// The document in which an object is stored: its `_id`, its type's name and its fields.
    ///
    /// - Parameter object: An object of a registered type, or an ``ArchivedObject``, whose document is as it is.
    /// - Throws: `TansuError` with `.invalidArgument` (the type is not registered), `.invalidID` (an id that is
    ///   neither an ObjectID nor its 24 hexadecimal digits, or two different ids) or `.invalidDocument` (a field of its
    ///   own where the type's name belongs); what the object throws.
    public func archive(_ object: any BSONArchiving) throws -> BSONDocument {
        if let unknown = object as? ArchivedObject { return unknown.document }
        let type = Swift.type(of: object)
        let name = type.archivedTypeName
        guard self.type(named: name) == type else {
            throw TansuError(
                .invalidArgument, "Type \"\(name)\" is not registered; register it with register(_:) first",
                context: name)
        }
        let document = try object.toDocument()
        if let own = document[typeKey], own != .string(name) {
            throw TansuError(
                .invalidDocument,
                "The field \"\(typeKey)\" is reserved for the type name; make a registry with another typeKey",
                context: "\(name).\(typeKey)")
        }
        var fields: [(String, BSONValue)] = []
        if let id = try id(of: document, type) { fields.append(("_id", .objectID(id))) }
        fields.append((typeKey, .string(name)))
        for (key, value) in document where key != "_id" && key != typeKey && key != type.oidPropertyName {
            fields.append((key, value))
        }
        return BSONDocument(fields)
    }

    /// The object that is stored in a document: of the registered type with its type name, or an
    /// ``ArchivedObject`` when there is none.
    ///
    /// - Parameter document: The document.
    /// - Throws: `TansuError` with `.invalidDocument` when the document has both `_id` and a field of the id's name;
    ///   what the type's `init(document:)` throws.
    public func unarchive(_ document: BSONDocument) throws -> any BSONArchiving {
        guard let name = document[typeKey]?.stringValue else {
            return ArchivedObject(typeName: nil, document: document)
        }
        guard let type = type(named: name) else { return ArchivedObject(typeName: name, document: document) }
        return try type.init(document: fields(of: document, for: type))
    }

    /// The fields for an object of the type.
    func fields(of document: BSONDocument, for type: any BSONArchiving.Type) throws -> BSONDocument {
        let key = type.oidPropertyName
        if key != "_id", document.contains(key: "_id"), document.contains(key: key) {
            throw TansuError(
                .invalidDocument,
                "The document has both _id and a field \"\(key)\", the type's name for _id; rename one of them",
                context: "\(type.archivedTypeName).\(key)")
        }
        return BSONDocument(
            document.lazy.filter { $0.key != self.typeKey }.map { ($0.key == "_id" ? key : $0.key, $0.value) })
    }

    private func id(of document: BSONDocument, _ type: any BSONArchiving.Type) throws -> ObjectID? {
        let ids = Set(["_id", type.oidPropertyName]).compactMap { document[$0] }.filter { !$0.isNull }
        let valid = try ids.map { id in
            guard let objectID = id.objectIDValue ?? id.stringValue.flatMap(ObjectID.init) else {
                throw TansuError(
                    .invalidID,
                    "\(id.type == .string ? "The string \(id)" : "A value of type \(id.type)") cannot be the"
                        + " object's id; return an ObjectID, its 24 hexadecimal digits, or none",
                    context: "\(type.archivedTypeName).\(type.oidPropertyName)")
            }
            return objectID
        }
        guard Set(valid).count <= 1 else {
            throw TansuError(
                .invalidID,
                "The object has two different ids, in _id and in \"\(type.oidPropertyName)\"; return one of them",
                context: "\(type.archivedTypeName).\(type.oidPropertyName)")
        }
        return valid.first
    }
}
