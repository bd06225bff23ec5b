extension Database {
    /// A property of the documents of a collection, in a query by key path.
    ///
    /// Go on to its own properties by their names; what is optional on the way needs no question mark. A comparison
    /// makes a ``Condition``:
    ///
    /// ```swift
    /// let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }.all()
    /// ```
    ///
    /// A condition means what the same expression means in Swift for the decoded value: `nil != 3` holds,
    /// and NaN is less than nothing. Texts alone are compared by their Unicode scalars.
    ///
    /// Where a property has the name of a method here, such as `exists`, say `$0[dynamicMember: \.exists]`.
    @dynamicMemberLookup
    public struct Field<Value>: Sendable {
        let place: Result<FieldPlace, TansuError>

        init(_ place: FieldPlace) {
            self.place = .success(place)
        }

        private init(_ place: Result<FieldPlace, TansuError>) {
            self.place = place
        }

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

        private func member<Root, Member, Found>(_ keyPath: KeyPath<Root, Member>) -> Field<Found> {
            Field<Found>(place.appending { try StoredNames.shared.keys(of: keyPath, isTop: $0.isDocument) })
        }

        func condition(_ clause: (FieldPlace) throws -> Clause) -> Condition {
            Condition(Clause { try clause(try place.get()) })
        }
    }
}

extension Database.Field where Value: QueryDictionary {
    /// The value for a key of a dictionary.
    public subscript(key: String) -> Database.Field<Value.QueryElement?> {
        Database.Field<Value.QueryElement?>(place.appending { _ in [key] })
    }
}

extension Result<FieldPlace, TansuError> {
    /// The place that further keys lead to, or what went wrong.
    fileprivate func appending(_ keys: (FieldPlace) throws -> [String]) -> Self {
        flatMap { place in Self(catchingTansuError: { place.appending(try keys(place)) }) }
    }
}

extension Result where Failure == TansuError {
    /// What a closure gives, any other error than a `TansuError` made one.
    init(catchingTansuError body: () throws -> Success) {
        do {
            self = .success(try body())
        } catch {
            self = .failure(error as? TansuError ?? TansuError(.invalidQuery, "\(error)"))
        }
    }
}

extension Clause {
    /// What the closure makes; its error when it throws.
    init(_ body: () throws -> Clause) {
        switch Result(catchingTansuError: body) {
        case .success(let clause): self = clause
        case .failure(let error): self = .failure(error)
        }
    }
}
