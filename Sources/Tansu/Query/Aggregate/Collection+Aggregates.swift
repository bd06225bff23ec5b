extension Database.Collection {
    /// The distinct values of a path in the documents that match; of an array, its elements.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - query: Which documents; all when empty.
    ///   - hints: Options; `$skip` and `$max` apply to the values. With `$explain` it is the plan.
    /// - Returns: The values in ascending order; of equal ones (1 and 1.0) the one inserted first.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or `.tooLarge` (values over the memory limit).
    public func distinct(
        _ path: String, _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) throws -> [BSONValue] {
        let (query, hints) = try stored(query, hints)
        let answer = try session.engine.distinct(path, query, hints, in: name)
        return answer["values"]?.arrayValue.map(Array.init) ?? [.document(answer)]
    }

    /// Aggregates of groups of the documents that match.
    ///
    /// For example:
    ///
    /// ```swift
    /// let bySpecies = try people.aggregate(
    ///     ["age": ["$gte": 18]],
    ///     group: ["by": "pet.species", "fields": ["people": ["$count": true], "meanAge": ["$avg": "age"]]])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - group: `by`, a path, an array of paths or `[name: path]`, without which all documents are one group; and
    ///     `fields`, `[name: [operator: path]]` with `$count $sum $avg $min $max $first $last $distinct`.
    ///   - hints: Options; `$orderby`, `$skip` and `$max` apply to the groups. With `$explain` it is the plan.
    /// - Returns: A document for each group, in the order of the group keys.
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names the member of the group), or `.tooLarge`
    ///   (groups over the memory limit).
    public func aggregate(
        _ query: BSONDocument = [:], group: BSONDocument, hints: BSONDocument = [:]
    ) throws -> [BSONDocument] {
        let (query, _) = try stored(query, [:])
        let answer = try session.engine.aggregate(query, group, hints, in: name)
        return answer["groups"]?.arrayValue?.compactMap(\.documentValue) ?? [answer]
    }
}
