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
