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
