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
