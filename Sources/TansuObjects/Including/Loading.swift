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
            let (parts, others) = (try load(session, roots), try other.load(session, roots))
            // By position: the iterator of a zipped sequence looks types up for each element.
            return parts.indices.map { index in
                let parts = parts[index]
                return (repeat each parts, others[index])
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
///
/// What is generic here is not specialized for the types of the app, and looks them up at run time. So that this is not done
/// for each reference, references become numbers first, and results are gathered by them.
enum Associated {
    /// What the reference of a property is to, with what is included for it; `nil` where there is none.
    static func referencedOne<
        Root: Codable & Sendable, Property: ToOneReference, Target: Codable & Sendable, Result: Sendable
    >(
        _ keyPath: KeyPath<Root, Property>, _ loading: Loading<Target, Result>
    ) -> Loading<Root, Result?> where Property.ReferenceTarget == Target {
        nonisolated(unsafe) let keyPath = keyPath
        return loadingTargets(loading, { $0[keyPath: keyPath].forEachID($1) }, { $0.first(of: $1) })
    }

    /// What the references of a property are to, in their order, with what is included for each.
    static func referenced<
        Root: Codable & Sendable, Property: ReferenceProperty, Target: Codable & Sendable, Result: Sendable
    >(
        _ keyPath: KeyPath<Root, Property>, _ loading: Loading<Target, Result>
    ) -> Loading<Root, [Result]> where Property.ReferenceTarget == Target {
        nonisolated(unsafe) let keyPath = keyPath
        return loadingTargets(loading, { $0[keyPath: keyPath].forEachID($1) }, { $0.all(of: $1) })
    }

    /// What the references of a property of an array's elements are to, each document once, in the order of the first
    /// reference to it.
    static func referenced<
        Root: Codable & Sendable, Part, Property: ReferenceProperty, Target: Codable & Sendable
    >(
        _ parts: @escaping @Sendable (Root) -> [Part], _ keyPath: KeyPath<Part, Property>
    ) -> Loading<Root, [Target]> where Property.ReferenceTarget == Target {
        nonisolated(unsafe) let keyPath = keyPath
        return loadingTargets(
            .roots,
            { root, body in
                var seen = IDNumbers<Target.ID>()
                for part in parts(root) {
                    part[keyPath: keyPath].forEachID { id in
                        guard seen[id] == nil else { return }
                        seen[id] = 0
                        body(id)
                    }
                }
            }, { $0.all(of: $1) })
    }

    private static func loadingTargets<
        Root: Codable & Sendable, Target: Codable & Sendable & Identifiable, Result: Sendable, Gathered: Sendable
    >(
        _ loading: Loading<Target, Result>, _ forEachID: @escaping @Sendable (Root, (Target.ID) -> Void) -> Void,
        _ gather: @escaping @Sendable (Membership, [Result]) -> [Gathered]
    ) -> Loading<Root, Gathered> where Target.ID: Codable & Hashable & Sendable {
        Loading<Root, Gathered> { session, roots in
            // Each id once, whatever number of references there is.
            var numbers = IDNumbers<Target.ID>()
            var ids: [Target.ID] = []
            var membership = Membership(owners: roots.count)
            for root in roots.indices {
                forEachID(roots[root]) { id in
                    let number = numbers[id] ?? ids.count
                    if number == ids.count {
                        numbers[id] = number
                        ids.append(id)
                    }
                    membership.add(number, to: root)
                }
            }
            let targets = try ModelRegistry.of(session.database).collection(of: Target.self, in: session)
            let found = try targets.get(ids: ids)
            let results = try loading.load(session, found)
            // The position of each id among those that were found.
            var positions = [Int](repeating: -1, count: ids.count)
            for position in found.indices {
                if let number = numbers[found[position].id] { positions[number] = position }
            }
            membership.replaceMembers { positions[$0] }
            return gather(membership, results)
        }
    }

    /// A query for the documents that refer to some of the values by a property.
    static func referrers<Root: Identifiable, Property, Other: Codable & Sendable>(
        to roots: [Root], by keyPath: KeyPath<Other, Property>, in session: Session
    ) throws -> Database.Query<Other> where Root.ID: Codable & Hashable & Sendable {
        let others = try ModelRegistry.of(session.database).collection(of: Other.self, in: session)
        let ids = try roots.map { try others.storedID($0.id) }
        return others.find(stored: [try others.storedPath(of: keyPath): ["$in": BSONValue(ids)]])
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
            var numbers = IDNumbers<Root.ID>()
            for number in roots.indices { numbers[roots[number].id] = number }
            let found = try refine(referrers(to: roots, by: keyPath, in: session)).all()
            let results = try loading.load(session, found)
            var membership = Membership(owners: roots.count)
            for position in found.indices {
                found[position][keyPath: keyPath].forEachID { id in
                    // A reference that is there twice is one.
                    if let number = numbers[id], membership.lastMember(of: number) != position {
                        membership.add(position, to: number)
                    }
                }
            }
            return membership.all(of: results)
        }
    }
}

/// A number for each id.
///
/// Ids of text differ when their bytes do, as in the engine. A `String` equals others that are canonically equivalent:
/// "é" as one scalar, and as a letter and a mark.
struct IDNumbers<ID: Hashable> {
    private struct Text: Hashable {
        let text: String

        static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var numbers: [ID: Int] = [:]
    private var numbersOfTexts: [Text: Int] = [:]

    subscript(id: ID) -> Int? {
        get {
            // Types are compared first: a cast looks them up for each id.
            if ID.self == String.self, let text = id as? String { return numbersOfTexts[Text(text: text)] }
            return numbers[id]
        }
        set {
            if ID.self == String.self, let text = id as? String {
                numbersOfTexts[Text(text: text)] = newValue
            } else {
                numbers[id] = newValue
            }
        }
    }
}

/// Which results belong to which value, all by their positions: the members of each owner, in the order in which they were
/// added.
struct Membership {
    private let ownerCount: Int
    private var owners: [Int] = []
    private var members: [Int] = []
    private var lastMembers: [Int]

    init(owners: Int) {
        ownerCount = owners
        lastMembers = [Int](repeating: -1, count: owners)
    }

    /// Adds a member.
    mutating func add(_ member: Int, to owner: Int) {
        owners.append(owner)
        members.append(member)
        lastMembers[owner] = member
    }

    /// The member that was added to an owner last; -1 when it has none.
    func lastMember(of owner: Int) -> Int { lastMembers[owner] }

    /// Replaces each member by another. Negative ones belong to nobody.
    mutating func replaceMembers(_ other: (Int) -> Int) {
        for index in members.indices { members[index] = other(members[index]) }
    }

    /// The results that belong to each owner.
    func all<Result>(of results: [Result]) -> [[Result]] {
        let (starts, sorted) = sorted()
        return (0..<ownerCount).map { owner in
            let (start, end) = (starts[owner], starts[owner + 1])
            return start == end ? [] : sorted[start..<end].map { results[$0] }
        }
    }

    /// The first result that belongs to each owner.
    func first<Result>(of results: [Result]) -> [Result?] {
        let (starts, sorted) = sorted()
        return (0..<ownerCount).map { owner in
            starts[owner] == starts[owner + 1] ? nil : results[sorted[starts[owner]]]
        }
    }

    /// The members by owner, and where those of each begin; the end is that of the next.
    private func sorted() -> (starts: [Int], members: [Int]) {
        var starts = [Int](repeating: 0, count: ownerCount + 1)
        for (owner, member) in zip(owners, members) where member >= 0 { starts[owner + 1] += 1 }
        for owner in 0..<ownerCount { starts[owner + 1] += starts[owner] }
        var next = starts
        var sorted = [Int](repeating: 0, count: starts[ownerCount])
        for (owner, member) in zip(owners, members) where member >= 0 {
            sorted[next[owner]] = member
            next[owner] += 1
        }
        return (starts, sorted)
    }
}
