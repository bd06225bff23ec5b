extension Database {
    /// A property in the elements of arrays, for aggregates and distinct values: `\.lines.quantity`.
    ///
    /// It is the root of key paths that lead through arrays and optionals without a question mark; values are never made.
    @dynamicMemberLookup
    public struct ElementPath<Value>: Sendable {
        let path: Result<FieldPath, TansuError>
        let names: NamingScope

        /// A property of the value.
        public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> ElementPath<Member> {
            member(of: keyPath) { $0 }
        }

        /// A property of the value where there is one.
        public subscript<Wrapped, Member>(
            dynamicMember keyPath: KeyPath<Wrapped, Member>
        ) -> ElementPath<Member> where Value == Wrapped? {
            member(of: keyPath) { $0 }
        }

        /// A property of each element.
        public subscript<Member>(
            dynamicMember keyPath: KeyPath<Value.QueryElement, Member>
        ) -> ElementPath<Member> where Value: QueryArray {
            member(of: keyPath) { $0.element }
        }

        private func member<Root, Member>(
            of keyPath: KeyPath<Root, Member>, in place: (FieldPath) -> FieldPath
        ) -> ElementPath<Member> {
            let path = path.flatMap { path in
                Result(catchingTansuError: { try names.path(of: keyPath, in: place(path)) })
            }
            return ElementPath<Member>(path: path, names: names)
        }
    }
}

extension Database.Query {
    /// The dotted path of a property in the elements of arrays.
    func path<Value>(
        of keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) throws -> String {
        let names = NamingScope(session, collection, codec.strategies)
        let root = Database.ElementPath<Element>(path: .success(.document), names: names)
        let path = try root[keyPath: keyPath].path.get()
        let dotted = try FieldPath(keys: path.outer.flatMap { $0 } + path.keys).dotted()
        try names.verify(filter)
        return dotted
    }

    /// The distinct values of a property in the elements of arrays: `distinct(\.lines.product)`.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    @_disfavoredOverload
    public func distinct<Value: Decodable & Sendable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct values of a property in the elements of arrays: `distinct(\.lines.product)`.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func distinct<Value: Decodable & Sendable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) async throws -> [Value] {
        let path = try path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }
}
