public import Tansu

extension Database.Field where Value: Identifiable, Value.ID: Codable & Hashable & Sendable {
    /// The documents that refer to this one by a property of another type:
    /// `authors.find { $0.inverse(\Book.author).contains { $0.year > 1970 } }`.
    ///
    /// - Parameter keyPath: The property of the other type, which the model has.
    public func inverse<Other: Codable & Sendable, Property: ReferenceProperty<Value>>(
        _ keyPath: KeyPath<Other, Property>
    ) -> Inverse<Value, Other, Property> {
        Inverse(field: self, property: ReadOnlyKeyPath(keyPath: keyPath))
    }
}

extension Database.Field where Value: QueryReference, Value.QueryTarget: Identifiable {
    /// The documents that refer to the same one as this reference, by a property of another type.
    ///
    /// - Parameter keyPath: The property of the other type, which the model has.
    public func inverse<Other: Codable & Sendable, Property: ReferenceProperty<Value.QueryTarget>>(
        _ keyPath: KeyPath<Other, Property>
    ) -> Inverse<Value, Other, Property> {
        Inverse(field: self, property: ReadOnlyKeyPath(keyPath: keyPath))
    }
}

/// The documents that refer to one, in a query: see `inverse(_:)`.
public struct Inverse<Value, Other: Codable & Sendable, Property>: Sendable {
    let field: Database.Field<Value>
    let property: ReadOnlyKeyPath<Other, Property>

    /// Some of them meets a condition.
    ///
    /// - Parameter condition: The condition on a document that refers to this one.
    public func contains(where condition: (Database.Field<Other>) -> Database.Condition) -> Database.Condition {
        do {
            let others = try ModelRegistry.of(field.database).collection(of: Other.self, in: Session(field.database))
            return field.isReferenced(by: property.keyPath, in: others, condition)
        } catch {
            return .failing(error)
        }
    }

    /// There are none.
    public var isEmpty: Database.Condition { !contains { _ in .raw([:]) } }
}
