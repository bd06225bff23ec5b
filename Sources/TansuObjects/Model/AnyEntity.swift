import Tansu

/// An ``Entity`` of any type, in the list of a ``Model``.
public struct AnyEntity: Sendable {
    let collection: String
    let type: ObjectIdentifier
    let typeName: String
    let elementType: any Any.Type
    let references: [AnyReferenceDeclaration]
    let timestamps: Database.Timestamps?
    let coding: BSONCodingStrategies

    /// The references with their stored paths.
    let storedReferences: @Sendable (Database.Transaction) throws -> [Database.CollectionReference]
    /// Creates the indexes that are missing.
    let ensureIndexes: @Sendable (Database) throws -> Void
    /// The document of a value of the type.
    let document: @Sendable (any Sendable) throws -> BSONDocument
    /// The value of a document.
    let value: @Sendable (BSONDocument) throws -> any Sendable
    /// Checks that its documents have the `id` of the type.
    let checkStoresID: @Sendable () throws -> Void
    /// A `Database.Collection` of the type, in a session.
    let makeCollection: @Sendable (Session) throws -> any Sendable

    init<Element>(_ entity: Entity<Element>) {
        let (name, coding) = (entity.collection, entity.coding)
        let codec = DocumentCodec<Element>.codable(coding)
        collection = name
        self.coding = coding
        type = ObjectIdentifier(Element.self)
        typeName = String(reflecting: Element.self)
        elementType = Element.self
        timestamps = entity.timestamps
        references = entity.references.map {
            AnyReferenceDeclaration(
                name: $0.name, target: $0.target, targetType: ObjectIdentifier($0.targetType),
                targetTypeName: String(reflecting: $0.targetType), targetIDType: $0.targetIDType, rule: $0.rule,
                canBeNullified: $0.canBeNullified)
        }
        storedReferences = { transaction in
            let elements = try transaction.collection(name, of: Element.self, coding: coding)
            return try entity.references.map {
                Database.CollectionReference(try $0.path(elements), to: $0.target, onDelete: $0.rule)
            }
        }
        ensureIndexes = { database in
            let elements = try database.collection(name, of: Element.self, coding: coding)
            // What queries from the other side, and including by it, look up.
            let references = try entity.references.map {
                Database.Index<Element>(on: [try $0.path(elements): .ascending])
            }
            let dates =
                entity.indexesTimestamps ? [entity.timestamps?.createdPath, entity.timestamps?.updatedPath] : []
            let indexes =
                entity.indexes + references
                + dates.compactMap { $0 }.map { Database.Index<Element>(on: [$0: .ascending]) }
            _ = try database.collection(name, of: Element.self, coding: coding, indexes: indexes)
        }
        checkStoresID = { try codec.checkStoresID() }
        makeCollection = { try $0.typedCollection(name, of: Element.self, coding: coding) }
        value = { document in
            var decoder = BSONDecoder()
            decoder.strategies = coding
            do {
                return try decoder.decode(Element.self, from: document)
            } catch {
                throw document.naming(error, in: name)
            }
        }
        document = { value in
            guard let value = value as? Element else {
                throw TansuError(
                    .invalidArgument, "A value has another type than its entity; report this error", context: name)
            }
            return try codec.document(of: value)
        }
    }
}

/// A reference of an entity of any type.
struct AnyReferenceDeclaration: Sendable {
    let name: String
    let target: String
    let targetType: ObjectIdentifier
    let targetTypeName: String
    let targetIDType: any Any.Type
    let rule: Database.DeleteRule
    let canBeNullified: Bool

    /// Throws when it does not fit the model.
    func check(in entity: AnyEntity, _ collections: [BytewiseText: AnyEntity]) throws {
        guard let target = collections[BytewiseText(target)] else {
            throw TansuError(
                .invalidArgument,
                "A reference is to the collection \"\(self.target)\", which the model does not have; add its entity",
                context: name)
        }
        guard target.type == targetType else {
            throw TansuError(
                .invalidArgument,
                "A reference to \"\(targetTypeName)\" is to the collection \"\(target.collection)\", which has"
                    + " \"\(target.typeName)\"; name the collection of its type",
                context: name)
        }
        guard StoredProperty.isStoredAlike(targetIDType, entity.coding, target.coding) else {
            throw TansuError(
                .invalidArgument,
                "A reference to \"\(targetTypeName)\" would be stored in another form than its id, because the collections"
                    + " \"\(entity.collection)\" and \"\(target.collection)\" have different coding strategies; give both the"
                    + " same for its type", context: name)
        }
        if rule == .nullify, !canBeNullified {
            throw TansuError(
                .invalidArgument,
                "A reference that must be there has the delete rule nullify; make the property optional, or use another rule",
                context: name)
        }
    }
}
