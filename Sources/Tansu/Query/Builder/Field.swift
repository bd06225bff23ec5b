extension Database {
    /// A property of the documents of a collection, in a query by key path.
    ///
    /// Its own properties are accessed by their names; optionals on the way need no question mark. A comparison makes a
    /// ``Condition``:
    ///
    /// ```swift
    /// let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }.all()
    /// ```
    ///
    /// A condition has the meaning of the same expression in Swift for the decoded value: `nil != 3` holds, and NaN is
    /// less than nothing. Only strings differ: they are compared by their Unicode scalars.
    ///
    /// For a property with the name of a method of this type, such as `exists`, write `$0[dynamicMember: \.exists]`.
    @dynamicMemberLookup
    public struct Field<Value>: Sendable {
        let path: Result<FieldPath, TansuError>
        let names: NamingScope
        /// The references that lead to the document in which the path begins.
        let hops: [ReferenceHop]

        init(_ path: FieldPath, _ names: NamingScope) {
            self.init(.success(path), names, hops: [])
        }

        init(_ path: Result<FieldPath, TansuError>, _ names: NamingScope, hops: [ReferenceHop]) {
            self.path = path
            self.names = names
            self.hops = hops
        }

        /// The database that the query is for.
        package var database: Database { names.session.database }

        /// A property of the value.
        public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Field<Member> {
            member(keyPath)
        }

        /// A property of the value where there is one.
        public subscript<Wrapped, Member>(
            dynamicMember keyPath: KeyPath<Wrapped, Member>
        ) -> Field<Member?> where Value == Wrapped? {
            member(keyPath)
        }

        /// An optional property of the value where there is one.
        public subscript<Wrapped, Member>(
            dynamicMember keyPath: KeyPath<Wrapped, Member?>
        ) -> Field<Member?> where Value == Wrapped? {
            member(keyPath)
        }

        func member<Root, Member, Found>(_ keyPath: KeyPath<Root, Member>) -> Field<Found> {
            field { try names.path(of: keyPath, in: $0) }
        }

        /// The field that the closure finds from the path of this one.
        func field<Found>(_ path: (FieldPath) throws -> FieldPath) -> Field<Found> {
            Field<Found>(
                self.path.flatMap { place in Result(catchingTansuError: { try path(place) }) }, names, hops: hops)
        }

        func condition(_ clause: (FieldPath) throws -> Clause) -> Condition {
            Condition(
                Clause {
                    let own = try names.coding { try clause(path.get()) }
                    return try hops.reversed().reduce(own) { try $1.clause(through: $0) }
                })
        }
    }
}

extension Database.Field where Value: QueryDictionary {
    /// The value for a key of a dictionary.
    public subscript(key: String) -> Database.Field<Value.QueryElement?> {
        field { $0.appending([key]) }
    }
}

extension Result where Failure == TansuError {
    /// The result of a closure, with any error converted to a `TansuError`.
    init(catchingTansuError body: () throws -> Success) {
        do {
            self = .success(try body())
        } catch {
            self = .failure(error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error)))
        }
    }
}

extension Clause {
    /// The clause that the closure makes, or its error.
    init(_ body: () throws -> Clause) {
        switch Result(catchingTansuError: body) {
        case .success(let clause): self = clause
        case .failure(let error): self = .failure(error)
        }
    }
}

// MARK: - Presence

extension Database {
    /// The `nil` that any optional field can be compared with.
    public struct Nothing: ExpressibleByNilLiteral, Sendable {
        /// The one value.
        public init(nilLiteral: ()) {}
    }
}

extension Database.Field {
    /// There is no value: the field is missing or null.
    @_disfavoredOverload
    public static func == <Wrapped>(field: Self, nothing: Database.Nothing) -> Database.Condition
    where Value == Wrapped? {
        field.condition { !.isPresent($0) }
    }

    /// There is a value.
    @_disfavoredOverload
    public static func != <Wrapped>(field: Self, nothing: Database.Nothing) -> Database.Condition
    where Value == Wrapped? {
        field.condition { .isPresent($0) }
    }

    /// The document has the field, even if it is null: `$exists`. Encoding omits properties that are nil, so that `!=
    /// nil` is equivalent for documents that were saved from this type.
    public func exists() -> Database.Condition {
        condition { .test($0, ["$exists": true]) }
    }
}

// MARK: - References

extension Database.Field where Value: QueryReference {
    /// A property of the document that the reference is to; nil where there is none.
    @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value.QueryTarget, Member>) -> Database.Field<Member?> {
        referenced().member(keyPath)
    }

    /// An optional property of the document that the reference is to; nil where there is none.
    @_disfavoredOverload
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value.QueryTarget, Member?>) -> Database.Field<Member?> {
        referenced().member(keyPath)
    }

    /// The `_id` that is stored for the reference.
    public var id: Database.Field<Value.QueryTargetID> { field { $0 } }

    /// The document that the reference is to.
    private func referenced() -> Database.Field<Value.QueryTarget> {
        do {
            let place = try path.get()
            let collection = try names.referencedCollection(at: place)
            let others = names.scope(of: collection)
            return Database.Field(
                .success(.document), others,
                hops: hops + [ReferenceHop(path: place, collection: collection, names: others)])
        } catch {
            let error = error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))
            return Database.Field(.failure(error), names, hops: hops)
        }
    }
}

extension Database.Field {
    /// Some document of another collection refers to this one, and meets a condition:
    /// `authors.find { $0.isReferenced(by: \.author, in: books) { $0.year > 1970 } }`.
    ///
    /// - Parameters:
    ///   - keyPath: The property with the reference, or with several.
    ///   - collection: The collection of the documents that have it.
    ///   - condition: What they have to meet; any will do without it.
    public func isReferenced<Other, Property>(
        by keyPath: KeyPath<Other, Property>, in collection: Database.Collection<Other>,
        _ condition: (Database.Field<Other>) -> Database.Condition = { _ in .raw([:]) }
    ) -> Database.Condition {
        let others = names.scope(of: collection.name, collection.codec.strategies)
        let clause = condition(Database.Field<Other>(.document, others)).clause
        return self.condition { place in
            let reference = try others.path(of: keyPath, in: .document).dotted()
            let query = try others.coding { try clause.document() }
            // The reference to a document is its _id; that of a reference is what is stored for it.
            let own = place.isDocument ? place.appending(["_id"]) : place
            return .test(
                own,
                [
                    "$in": [
                        "$from": .string(collection.name), "$field": .string(reference),
                        "$query": .document(query),
                    ]
                ])
        }
    }
}

// MARK: - ReferenceHop

/// The way from a reference to the document that it refers to, in a query.
struct ReferenceHop: Sendable {
    /// Where the reference is.
    let path: FieldPath
    /// The collection of the documents that it refers to.
    let collection: String
    /// The names there.
    let names: NamingScope

    /// The clause that a document with the reference satisfies, for a clause on the document that it refers to.
    ///
    /// A reference that leads nowhere is to a document without any value, as an optional chain in Swift is nil.
    func clause(through target: Clause) throws -> Clause {
        if case .failure = target { return target }
        guard target.holdsWithoutValues else { return try semiJoin(target) }
        return !(try semiJoin(!target))
    }

    private func semiJoin(_ target: Clause) throws -> Clause {
        let query = try names.coding { try target.document() }
        return .test(path, ["$in": ["$from": .string(collection), "$query": .document(query)]])
    }
}

extension Clause {
    /// Whether it holds for a document in which every value that it tests is missing.
    var holdsWithoutValues: Bool {
        switch self {
        case .constant(let value): value
        case .test(_, let operators): operators.allSatisfy { Self.holdsForNothing($0.key, $0.value) }
        // A query document may be anything: it is for documents that there are.
        case .element, .document, .failure: false
        case .all(let clauses): clauses.list.allSatisfy(\.holdsWithoutValues)
        case .any(let clauses): clauses.list.contains(where: \.holdsWithoutValues)
        case .not(let clause): !clause.holdsWithoutValues
        }
    }

    private static func holdsForNothing(_ name: String, _ operand: BSONValue) -> Bool {
        switch name {
        case "$eq", "$gte", "$lte": operand == .null
        case "$in": operand.arrayValue?.contains(.null) ?? false
        default: false
        }
    }
}

// MARK: - QueryReference

/// A value that is stored as the `_id` of a document of another collection.
///
/// In queries by key path, the properties of that document are reached through it: `$0.author.name == "Le Guin"`. The
/// model that the database is used with says which collection it is in (`Database.use(_:)` of the module `TansuObjects`).
public protocol QueryReference: QueryValue {
    /// The type of the document that it refers to.
    associatedtype QueryTarget

    /// The type of its `_id`.
    associatedtype QueryTargetID
}

extension Optional: QueryReference where Wrapped: QueryReference {
    /// The type of the document that the wrapped value refers to.
    public typealias QueryTarget = Wrapped.QueryTarget

    /// The type of its `_id`.
    public typealias QueryTargetID = Wrapped.QueryTargetID
}

// MARK: - Not stored

// What Swift computes of a text or an array, and a query cannot. As the properties of the text's type they would compile, and
// throw when the query is made. An unavailable member does not hide them; but of two members that fit equally well and better
// than all others, the compiler takes neither.

extension Database.Field where Value: QueryText {
    /// No query has the number of a text's characters: the compiler rejects it as ambiguous. Filter the results in Swift.
    public var count: Database.Field<Int> { notStored() }

    /// No query has a text's first character: the compiler rejects it as ambiguous. Use ``hasPrefix(_:)``.
    public var first: Database.Field<Character?> { notStored() }

    /// No query has a text's last character: the compiler rejects it as ambiguous. Use ``hasSuffix(_:)``.
    public var last: Database.Field<Character?> { notStored() }
}

extension Database.Field where Value: QueryComparable {
    /// No query has the number of a text's characters: the compiler rejects it as ambiguous. Filter the results in Swift.
    public var count: Database.Field<Int> { notStored() }

    /// No query has a text's first character: the compiler rejects it as ambiguous.
    public var first: Database.Field<Character?> { notStored() }

    /// No query has a text's last character: the compiler rejects it as ambiguous.
    public var last: Database.Field<Character?> { notStored() }
}

extension Database.Field {
    private func notStored<Found>() -> Database.Field<Found> {
        field {
            throw TansuError(.invalidQuery, "A query has stored values only", context: $0.keys.joined(separator: "."))
        }
    }
}

// What else Swift computes of a text. Unlike the above it compiles with a warning, because the properties of a text's type are any
// number.
extension Database.Field where Value: QueryText {
    /// A property that Swift computes of a text, and a query cannot: the query throws.
    @available(
        *, deprecated,
        message: "a query has stored values only; use hasPrefix, contains and the like, or filter the results in Swift"
    )
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Database.Field<Member> {
        member(keyPath)
    }

    /// A property that Swift computes of a text, and a query cannot: the query throws.
    @available(
        *, deprecated,
        message: "a query has stored values only; use hasPrefix, contains and the like, or filter the results in Swift"
    )
    public subscript<Wrapped, Member>(
        dynamicMember keyPath: KeyPath<Wrapped, Member>
    ) -> Database.Field<Member?> where Value == Wrapped? {
        member(keyPath)
    }

    /// A property that Swift computes of a text, and a query cannot: the query throws.
    @available(
        *, deprecated,
        message: "a query has stored values only; use hasPrefix, contains and the like, or filter the results in Swift"
    )
    public subscript<Wrapped, Member>(
        dynamicMember keyPath: KeyPath<Wrapped, Member?>
    ) -> Database.Field<Member?> where Value == Wrapped? {
        member(keyPath)
    }
}
