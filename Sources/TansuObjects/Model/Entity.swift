public import Tansu

/// The collection in which the values of a type are stored, with its references and indexes, for a ``Model``.
///
/// ```swift
/// Entity("books", of: Book.self, indexes: [Database.Index(on: \.title)])
///     .reference(\.author, to: "authors", onDelete: .cascade)
///     .reference(\.tags, to: "tags", onDelete: .nullify)
/// ```
public struct Entity<Element: Codable & Sendable & Identifiable>: Sendable
where Element.ID: Codable & Hashable & Sendable {
    let collection: String
    let coding: BSONCodingStrategies
    let indexes: [Database.Index<Element>]
    var references: [ReferenceDeclaration<Element>] = []
    var timestamps: Database.Timestamps?
    var indexesTimestamps = false

    /// A type and its collection.
    ///
    /// - Parameters:
    ///   - collection: The collection's name, 1 to 120 bytes. It is created if need be.
    ///   - type: The type of its documents.
    ///   - coding: How dates and other values are stored; see `Database.Collection.coding(_:)`.
    ///   - indexes: Its indexes; references have one without being listed.
    public init(
        _ collection: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
        indexes: [Database.Index<Element>] = []
    ) {
        self.collection = collection
        self.coding = coding
        self.indexes = indexes
    }

    /// The same with a property that holds references.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - target: The collection of the documents that it refers to, which the model has as well.
    ///   - rule: What the removal of such a document does to one that refers to it. `.nullify` is for optional properties,
    ///     arrays and sets.
    public func reference<Property: ReferenceProperty>(
        _ keyPath: KeyPath<Element, Property>, to target: String, onDelete rule: Database.DeleteRule = .ignore
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return adding(ReferenceDeclaration(keyPath, to: target, rule) { try $0.storedPath(of: property.keyPath) })
    }

    /// The same with a property of the elements of an array: `.reference(\.lines, \.product, to: "products")`.
    ///
    /// - Parameters:
    ///   - array: The array, which may be optional.
    ///   - keyPath: The property of its elements.
    ///   - target: The collection of the documents that it refers to, which the model has as well.
    ///   - rule: What the removal of such a document does to one that refers to it. `.nullify` is for optional properties,
    ///     arrays and sets; it leaves the element of `array`.
    public func reference<Parts: QueryArray, Property: ReferenceProperty>(
        _ array: KeyPath<Element, Parts>, _ keyPath: KeyPath<Parts.QueryElement, Property>, to target: String,
        onDelete rule: Database.DeleteRule = .ignore
    ) -> Self {
        let (parts, property) = (ReadOnlyKeyPath(keyPath: array), ReadOnlyKeyPath(keyPath: keyPath))
        return adding(
            ReferenceDeclaration(keyPath, to: target, rule) {
                try $0.storedPath(of: parts.keyPath, elements: property.keyPath)
            })
    }

    /// The same with documents that the engine dates.
    ///
    /// - Parameters:
    ///   - timestamps: The names of the fields; a property may have such a name.
    ///   - isIndexed: Whether there is an index for each of them.
    public func timestamps(
        _ timestamps: Database.Timestamps = Database.Timestamps(), isIndexed: Bool = true
    ) -> Self {
        var entity = self
        entity.timestamps = timestamps
        entity.indexesTimestamps = isIndexed
        return entity
    }

    private func adding(_ reference: ReferenceDeclaration<Element>) -> Self {
        var entity = self
        entity.references.append(reference)
        return entity
    }
}

/// A reference of an entity whose path is not known yet.
struct ReferenceDeclaration<Element: Sendable>: Sendable {
    let target: String
    let targetType: any Any.Type
    let targetIDType: any Any.Type
    let name: String
    let rule: Database.DeleteRule
    let canBeNullified: Bool
    let path: @Sendable (Database.Collection<Element>) throws -> String

    init<Root, Property: ReferenceProperty>(
        _ keyPath: KeyPath<Root, Property>, to target: String, _ rule: Database.DeleteRule,
        path: @escaping @Sendable (Database.Collection<Element>) throws -> String
    ) {
        self.target = target
        self.rule = rule
        self.path = path
        // Of an optional on the way there may be none, but where there is one, the reference must be there.
        let declared = StoredProperty.declaredType(of: keyPath) as? any ReferenceProperty.Type
        canBeNullified = declared?.canBeNullified ?? Property.canBeNullified
        targetType = Property.ReferenceTarget.self
        targetIDType = Property.ReferenceTarget.ID.self
        name = "\(keyPath)"
    }
}

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
