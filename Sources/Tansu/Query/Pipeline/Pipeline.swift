extension Database {
    /// An aggregation pipeline: stages, each of which takes the documents of the one before.
    ///
    /// A stage is a document as in MongoDB, or one of the functions of ``Stage``, which take key paths for the properties
    /// of the collection's type. Both may be mixed:
    ///
    /// ```swift
    /// let sales = try orders.aggregate([
    ///     .match { $0.isPaid },
    ///     .unwind(\.lines),
    ///     .group(by: "$lines.product", ["sold": .sum("$lines.quantity")]),
    ///     ["$sort": ["sold": -1]],
    ///     .limit(10),
    /// ]).all()
    /// ```
    ///
    /// Names and values in documents are those that are stored: `_id`, not `id`. A stage such as a group makes documents of
    /// another shape, whose fields the stages after it name by text.
    public struct Pipeline<Element: Sendable>: Sendable {
        /// The stages, in their order.
        public var stages: [Stage]

        /// A pipeline of stages that are made by other code.
        public init(_ stages: [Stage]) {
            self.stages = stages
        }

        /// A pipeline of stages as documents, such as those of a JSON array.
        public init(documents: [BSONDocument]) {
            stages = documents.map { Stage($0) }
        }

        /// The stages in the engine's form, for the collection of a query.
        ///
        /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known.
        func documents(for query: Query<Element>) throws -> [BSONDocument] {
            try stages.map { try $0.document(query) }
        }
    }
}

extension Database.Pipeline: ExpressibleByArrayLiteral {
    /// A pipeline of stages.
    public init(arrayLiteral stages: Stage...) {
        self.init(stages)
    }
}

extension Database.Pipeline {
    /// A stage of a pipeline: one of its functions, or a document such as `["$limit": 10]`.
    public struct Stage: Sendable {
        /// The stage in the engine's form, for the collection of a query.
        let document: @Sendable (Database.Query<Element>) throws -> BSONDocument

        init(_ name: String, _ operand: @escaping @Sendable (Database.Query<Element>) throws -> BSONValue) {
            document = { [name: try operand($0)] }
        }

        /// A stage as a document with one member, its name.
        public init(_ document: BSONDocument) {
            self.document = { _ in document }
        }
    }
}

extension Database.Pipeline.Stage: ExpressibleByDictionaryLiteral {
    /// A stage as a document with one member, its name.
    public init(dictionaryLiteral members: (String, BSONValue)...) {
        self.init(BSONDocument(members))
    }
}

// MARK: - Matching

extension Database.Pipeline.Stage {
    /// Only documents that match a query document.
    public static func match(_ query: BSONDocument) -> Self {
        Self("$match") { _ in .document(query) }
    }

    /// Only documents that match a condition on the properties of the collection's type.
    ///
    /// - Parameter condition: The condition. It runs once, when the pipeline is used.
    public static func match(
        _ condition: @escaping @Sendable (Database.Field<Element>) -> Database.Condition
    ) -> Self {
        Self("$match") { .document(try $0.ownCollection.find(condition).filter) }
    }

    /// Only documents that match a query of the collection, which has no order, range or fields: those are stages.
    public static func match(_ query: Database.Query<Element>) -> Self {
        Self("$match") { own in
            guard query.collection == own.collection, query.session.database === own.session.database else {
                throw TansuError(
                    .invalidArgument, "The query is of another collection; make it with the collection that is read",
                    context: query.collection)
            }
            guard query.hints.isEmpty else {
                throw TansuError(
                    .invalidQuery,
                    "The query of a stage has the option \"\(query.hints.keys.first ?? "")\"; use a stage for it",
                    context: "$match")
            }
            try query.checkOrder()
            return .document(query.filter)
        }
    }
}

// MARK: - Grouping

extension Database.Pipeline.Stage {
    /// One document for each group of documents, with the group's key as `_id`.
    ///
    /// For example: `.group(by: ["$shop", "$year"], ["orders": .count, "sum": .sum("$total")])`.
    ///
    /// - Parameters:
    ///   - expression: The key: a field (`"$shop"`) or another expression. With null all documents are one group.
    ///   - fields: The other fields of the group.
    public static func group(
        by expression: BSONValue, _ fields: KeyValuePairs<String, Database.Pipeline<Element>.Accumulator> = [:]
    ) -> Self {
        group(fields) { _ in expression }
    }

    /// One document for each value of a property, with the value as `_id`.
    ///
    /// For example: `.group(by: \.pet?.species, ["people": .count, "age": .average(\.age)])`.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - fields: The other fields of the group.
    public static func group<Value>(
        by keyPath: KeyPath<Element, Value>,
        _ fields: KeyValuePairs<String, Database.Pipeline<Element>.Accumulator> = [:]
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return group(fields) { try $0.fieldExpression(property.keyPath) }
    }

    private static func group(
        _ fields: KeyValuePairs<String, Database.Pipeline<Element>.Accumulator>,
        by key: @escaping @Sendable (Database.Query<Element>) throws -> BSONValue
    ) -> Self {
        let fields = fields.map { ($0.key, $0.value) }
        return Self("$group") { query in
            var group: BSONDocument = ["_id": try key(query)]
            for (name, accumulator) in fields {
                // A document takes a field twice, and the last one would win.
                guard !group.contains(key: name) else {
                    throw TansuError(
                        .invalidQuery, "A group has the field \"\(name)\" twice; rename one, and \"_id\" is its key",
                        context: "$group")
                }
                group[name] = .document(try accumulator.document(query))
            }
            return .document(group)
        }
    }

    /// One document with the number of documents.
    ///
    /// - Parameter field: The name of its field.
    public static func count(as field: String = "count") -> Self {
        Self("$count") { _ in .string(field) }
    }

    /// The same documents with fields that are computed of a window of documents: `$setWindowFields`.
    ///
    /// - Parameter window: `partitionBy`, `sortBy` and `output`.
    public static func window(_ window: BSONDocument) -> Self {
        Self("$setWindowFields") { _ in .document(window) }
    }
}

// MARK: - Other documents

extension Database.Pipeline.Stage {
    /// The same documents with an array of those of another collection that have the same value.
    ///
    /// - Parameters:
    ///   - collection: The other collection.
    ///   - localField: The path of the value in these documents.
    ///   - foreignField: Its path in those of the other collection.
    ///   - field: The field of the array.
    public static func lookup(
        from collection: String, localField: String, foreignField: String = "_id", as field: String
    ) -> Self {
        lookup(collection, foreignField, field) { _ in localField }
    }

    /// The same documents with an array of those of another collection that have the value of a property.
    ///
    /// - Parameters:
    ///   - collection: The other collection.
    ///   - localField: The property of these documents.
    ///   - foreignField: The path of the value in those of the other collection.
    ///   - field: The field of the array.
    public static func lookup<Value>(
        from collection: String, localField: KeyPath<Element, Value>, foreignField: String = "_id", as field: String
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: localField)
        return lookup(collection, foreignField, field) { try $0.fieldPath(property.keyPath) }
    }

    private static func lookup(
        _ collection: String, _ foreignField: String, _ field: String,
        _ localField: @escaping @Sendable (Database.Query<Element>) throws -> String
    ) -> Self {
        Self("$lookup") {
            [
                "from": .string(collection), "localField": .string(try localField($0)),
                "foreignField": .string(foreignField), "as": .string(field),
            ]
        }
    }

    /// One document for each element of an array, with the element in its place.
    ///
    /// - Parameters:
    ///   - path: The path of the array.
    ///   - keepsEmpty: Whether documents without elements stay as they are.
    public static func unwind(_ path: String, keepsEmpty: Bool = false) -> Self {
        unwind(keepsEmpty) { _ in .string("$" + path) }
    }

    /// One document for each element of an array property, with the element in its place.
    ///
    /// - Parameters:
    ///   - keyPath: The array.
    ///   - keepsEmpty: Whether documents without elements stay as they are.
    public static func unwind<Elements: QueryArray>(
        _ keyPath: KeyPath<Element, Elements>, keepsEmpty: Bool = false
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return unwind(keepsEmpty) { try $0.fieldExpression(property.keyPath) }
    }

    private static func unwind(
        _ keepsEmpty: Bool, _ path: @escaping @Sendable (Database.Query<Element>) throws -> BSONValue
    ) -> Self {
        Self("$unwind") {
            keepsEmpty ? ["path": try path($0), "preserveNullAndEmptyArrays": true] : try path($0)
        }
    }
}

// MARK: - Order and range

extension Database.Pipeline.Stage {
    /// The same documents, sorted: `.sort(["sold": -1, "_id": 1])`.
    ///
    /// - Parameter order: The paths, the most significant first, each with 1 or -1.
    public static func sort(_ order: BSONDocument) -> Self {
        Self("$sort") { _ in .document(order) }
    }

    /// The same documents, sorted by a path.
    public static func sort(by path: String, _ direction: SortDirection = .ascending) -> Self {
        Self("$sort") { _ in .document(BSONDocument(key: path, value: direction.bsonValue)) }
    }

    /// The same documents, sorted by a property.
    public static func sort<Value>(
        by keyPath: KeyPath<Element, Value>, _ direction: SortDirection = .ascending
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return Self("$sort") {
            try $0.checkOrder(of: property.keyPath)
            return .document(BSONDocument(key: try $0.fieldPath(property.keyPath), value: direction.bsonValue))
        }
    }

    /// The first documents.
    ///
    /// - Parameter count: 1 or more.
    public static func limit(_ count: Int) -> Self {
        Self("$limit") { _ in BSONValue(count) }
    }

    /// The documents without the first ones.
    public static func skip(_ count: Int) -> Self {
        Self("$skip") { _ in BSONValue(count) }
    }
}

// MARK: - Fields

extension Database.Pipeline.Stage {
    /// The documents with only some fields, or without some, and with computed ones.
    ///
    /// - Parameter fields: `1` includes a field, `0` excludes it, and an expression computes it.
    public static func project(_ fields: BSONDocument) -> Self {
        Self("$project") { _ in .document(fields) }
    }

    /// The documents with more fields, or other values of those that they have.
    ///
    /// - Parameter fields: The fields, each with its expression: `["total": ["$sum": "$lines.price"]]`.
    public static func set(_ fields: BSONDocument) -> Self {
        Self("$set") { _ in .document(fields) }
    }

    /// The documents without some fields.
    ///
    /// - Parameter paths: The paths of the fields.
    public static func unset(_ paths: String...) -> Self {
        Self("$unset") { _ in BSONValue(paths.map { .string($0) }) }
    }
}

// MARK: - Key paths

extension Database.Query {
    /// The path of a property as expressions name it, which have no escapes.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func fieldPath<Value>(_ keyPath: KeyPath<Element, Value>) throws -> String {
        let keys = try ownCollection.scope.path(of: keyPath, in: .document).keys
        if let key = keys.first(where: { $0.isEmpty || $0.hasPrefix("$") || $0.contains(".") || $0.utf8.contains(0) }) {
            throw TansuError(
                .invalidQuery, "No stage can name the key \"\(key)\" by a path; use $getField, or rename the key",
                context: keyPath.shown)
        }
        return keys.joined(separator: ".")
    }

    /// The value of a property as an expression: `"$age"`.
    func fieldExpression<Value>(_ keyPath: KeyPath<Element, Value>) throws -> BSONValue {
        .string("$" + (try fieldPath(keyPath)))
    }
}
