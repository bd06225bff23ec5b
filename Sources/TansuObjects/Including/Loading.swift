import Tansu

/// Loads, for values of one type, what belongs to each of them: one batch for all of them.
struct Loading<Root: Sendable, Value: Sendable>: Sendable {
    let load: @Sendable (Session, [Root]) throws -> [Value]

    /// The same with another part, which becomes the last one of the tuple.
    func adding<each Part: Sendable, Other: Sendable>(
        _ other: Loading<Root, Other>
    ) -> Loading<Root, (repeat each Part, Other)> where Value == (repeat each Part) {
        let load = load
        return Loading<Root, (repeat each Part, Other)> { session, roots in
            zip(try load(session, roots), try other.load(session, roots)).map { parts, other in
                (repeat each parts, other)
            }
        }
    }

    /// The same with each value changed.
    func mapped<Result: Sendable>(_ change: @escaping @Sendable (Value) -> Result) -> Loading<Root, Result> {
        let load = load
        return Loading<Root, Result> { session, roots in try load(session, roots).map(change) }
    }
}

extension Loading where Value == Root {
    /// The values alone.
    static var roots: Self { Self { _, roots in roots } }
}

/// What loads associated documents.
enum Associated {
    /// What the references of a property are to, in their order, with what is included for each.
    static func referenced<
        Root: Codable & Sendable, Property: ReferenceProperty, Target: Codable & Sendable, Result: Sendable
    >(
        _ keyPath: KeyPath<Root, Property>, _ loading: Loading<Target, Result>
    ) -> Loading<Root, [Result]> where Property.ReferenceTarget == Target {
        nonisolated(unsafe) let keyPath = keyPath
        return Loading<Root, [Result]> { session, roots in
            // Each id once, whatever number of references there is.
            var numbers: [Target.ID: Int] = [:]
            var ids: [Target.ID] = []
            let references = roots.map { root in
                var own: [Int] = []
                root[keyPath: keyPath].forEachID { id in
                    let number = numbers[id] ?? ids.count
                    if number == ids.count {
                        numbers[id] = number
                        ids.append(id)
                    }
                    own.append(number)
                }
                return own
            }
            let targets = try ModelRegistry.of(session.database).collection(of: Target.self, in: session)
            let found = try targets.get(ids: ids)
            let results = try loading.load(session, found)
            var byNumber = [Result?](repeating: nil, count: ids.count)
            for (target, result) in zip(found, results) {
                if let number = numbers[target.id] { byNumber[number] = result }
            }
            return references.map { own in own.compactMap { byNumber[$0] } }
        }
    }
    /// A query for the documents that refer to some of the values by a property.
    static func referrers<Root: Identifiable, Property, Other: Codable & Sendable>(
        to roots: [Root], by keyPath: KeyPath<Other, Property>, in session: Session
    ) throws -> Database.Query<Other> where Root.ID: Codable & Hashable & Sendable {
        let others = try ModelRegistry.of(session.database).collection(of: Other.self, in: session)
        let ids = try roots.map { try BSONValue(id: $0.id) }
        return others.find([try others.storedPath(of: keyPath): ["$in": BSONValue(ids)]])
    }

    /// The documents that refer to each value by a property, with what is included for each.
    static func referring<
        Root: Codable & Sendable & Identifiable, Property: ReferenceProperty, Other: Codable & Sendable,
        Result: Sendable
    >(
        _ keyPath: KeyPath<Other, Property>, _ loading: Loading<Other, Result>,
        _ refine: @escaping @Sendable (Database.Query<Other>) throws -> Database.Query<Other>
    ) -> Loading<Root, [Result]> where Property.ReferenceTarget == Root, Root.ID: Codable & Hashable & Sendable {
        nonisolated(unsafe) let keyPath = keyPath
        return Loading<Root, [Result]> { session, roots in
            var numbers: [Root.ID: Int] = [:]
            for (number, root) in roots.enumerated() { numbers[root.id] = number }
            let found = try refine(referrers(to: roots, by: keyPath, in: session)).all()
            let results = try loading.load(session, found)
            var byRoot = [[Result]](repeating: [], count: roots.count)
            for (other, result) in zip(found, results) {
                // A reference that is there twice is one.
                var seen: Set<Int> = []
                other[keyPath: keyPath].forEachID { id in
                    if let number = numbers[id], seen.insert(number).inserted { byRoot[number].append(result) }
                }
            }
            return byRoot
        }
    }
}
