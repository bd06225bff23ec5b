public import Tansu

/// What is computed of the documents that refer to another one, for `annotated(with:)`.
public struct Annotation<Root: Codable & Sendable & Identifiable, Value: Sendable>: Sendable
where Root.ID: Codable & Hashable & Sendable {
    let loading: Loading<Root, Value>

    /// How many documents refer to it by a property of their type.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - condition: Which of them count; all without it.
    public static func count<Other: Codable & Sendable, Property: ReferenceProperty<Root>>(
        _ keyPath: KeyPath<Other, Property>,
        where condition: (@Sendable (Database.Field<Other>) -> Database.Condition)? = nil
    ) -> Self where Value == Int {
        Self(
            loading: Associated.referring(keyPath, .roots) { query in
                try condition.map { try query.and($0) } ?? query
            }.mapped { $0.count })
    }

    /// An aggregate of the documents that refer to it by a property of their type: `.of(\Book.author, .sum(\.pages))`. `nil`
    /// where there are none.
    ///
    /// - Parameters:
    ///   - keyPath: The property, a reference to one document.
    ///   - aggregate: What is computed.
    public static func of<Other: Codable & Sendable, Result: Sendable, Property: ToOneReference<Root> & Codable>(
        _ keyPath: KeyPath<Other, Property>, _ aggregate: Database.Aggregate<Other, Result>
    ) -> Self where Value == Result? {
        nonisolated(unsafe) let keyPath = keyPath
        return Self(
            loading: Loading { session, roots in
                let groups = try Associated.referrers(to: roots, by: keyPath, in: session).groups(
                    by: .value(keyPath), computing: aggregate)
                var numbers = IDNumbers<Root.ID>()
                for (number, root) in roots.enumerated() where numbers[root.id] == nil { numbers[root.id] = number }
                var results = [Result?](repeating: nil, count: roots.count)
                for (property, result) in groups {
                    property.forEachID { id in numbers[id].map { results[$0] = result } }
                }
                return roots.map { root in numbers[root.id].flatMap { results[$0] } }
            })
    }
}
