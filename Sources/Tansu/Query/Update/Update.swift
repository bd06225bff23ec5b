extension Database {
    /// Changes of the properties of documents: see `update(where:_:)`.
    ///
    /// Each method is an operator of the update; a property may be changed once. A change of a property that is
    /// computed of the stored ones, or of one whose stored name is not known, makes the update throw.
    ///
    /// As an assignment in Swift, a change through an optional, as of `\.home?.city`, does nothing in documents where that is
    /// nil.
    public struct Update<Element: Sendable>: Sendable {
        private var operations = UpdateOperations()
        private var failure: (any Error)?
        private let names: NamingScope

        init(_ names: NamingScope) {
            self.names = names
        }

        /// The operators.
        ///
        /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known, a value cannot be
        ///   stored, a property is changed twice, or there is no change.
        func document() throws -> UpdateOperations {
            if let failure { throw failure }
            guard !operations.isEmpty else {
                throw TansuError(.invalidQuery, "The update changes nothing; call a method such as set in its closure")
            }
            return operations
        }

        /// Adds an operator on a property.
        ///
        /// - Parameters:
        ///   - onNull: What is done instead where the property is stored as null.
        ///   - limits: Which numbers the property does not hold.
        mutating func add<Value>(
            _ name: String, _ keyPath: KeyPath<Element, Value>,
            onNull: ((BSONValue) -> UpdateOperations.OnNull)? = nil, limits: NumberLimits? = nil,
            _ operand: () throws -> BSONValue
        ) {
            do {
                let place = try names.path(of: keyPath, in: .document)
                let path = try place.dotted()
                guard !operations.changes(path) else {
                    throw TansuError(
                        .invalidQuery, "The update changes a property twice; remove one change", context: path)
                }
                let optional = StoredFieldNames.optional(on: keyPath).flatMap { part in
                    part.keys.count < place.keys.count && place.keys.starts(with: part.keys) ? part : nil
                }
                if let optional, name == "$unset", !optional.canBeNil {
                    throw TansuError(
                        .invalidQuery,
                        "The property is not optional, so that documents could not be decoded without it; unset the optional"
                            + " property that it is in", context: path)
                }
                // $unset leaves null as it is; the other operators make a part of it, or are an error.
                let part = name != "$unset" ? try optional.map { try FieldPath(keys: $0.keys).dotted() } : nil
                let value = try operand()
                try operations.add(
                    .init(name: name, path: path, operand: value, part: part, onNull: onNull?(value), limits: limits))
            } catch {
                failure = failure ?? error
            }
        }
    }
}

extension Database.Update {
    /// Sets a property.
    public mutating func set<Value: Encodable>(_ keyPath: KeyPath<Element, Value>, _ value: Value) {
        // A property that is nil is stored as no field.
        if (value as? any OptionalValue).map({ $0.content == nil }) ?? false {
            add("$unset", keyPath) { "" }
        } else {
            add("$set", keyPath) { try QueryCoding.value(of: value) }
        }
    }

    /// Sets a property only in a document that an upsert inserts.
    public mutating func setOnInsert<Value: Encodable>(_ keyPath: KeyPath<Element, Value>, _ value: Value) {
        // A property that is nil is stored as no field.
        guard (value as? any OptionalValue).map({ $0.content != nil }) ?? true else { return }
        add("$setOnInsert", keyPath) { try QueryCoding.value(of: value) }
    }

    /// Removes an optional property: it becomes nil.
    public mutating func unset<Value>(_ keyPath: KeyPath<Element, Value?>) {
        add("$unset", keyPath) { "" }
    }

    /// Adds a number to a property. A result that is too large for its type makes the update throw.
    public mutating func increment<Value: Numeric & Encodable>(
        _ keyPath: KeyPath<Element, Value>, by amount: Value = 1
    ) {
        compute("$inc", keyPath, with: amount, limits: .of(amount, isProduct: false))
    }

    /// Adds a number to an optional property; nil becomes the number.
    public mutating func increment<Value: Numeric & Encodable>(
        _ keyPath: KeyPath<Element, Value?>, by amount: Value = 1
    ) {
        compute("$inc", keyPath, with: amount, onNull: { .set($0) }, limits: .of(amount, isProduct: false))
    }

    /// Multiplies a property by a number. A result that is too large for its type makes the update throw.
    public mutating func multiply<Value: Numeric & Encodable>(_ keyPath: KeyPath<Element, Value>, by factor: Value) {
        compute("$mul", keyPath, with: factor, limits: .of(factor, isProduct: true))
    }

    /// Sets a property to a value unless it is greater already.
    public mutating func raise<Value: QueryComparable>(_ keyPath: KeyPath<Element, Value>, to value: Value.QueryOperand)
    {
        compute("$max", keyPath, with: value)
    }

    /// Sets a property to a value unless it is less already.
    public mutating func lower<Value: QueryComparable>(_ keyPath: KeyPath<Element, Value>, to value: Value.QueryOperand)
    {
        compute("$min", keyPath, with: value)
    }
}

extension Database.Update {
    /// Adds an operator that compares a property or computes with it.
    private mutating func compute<Value, Operand: Encodable>(
        _ name: String, _ keyPath: KeyPath<Element, Value>, with operand: Operand,
        onNull: ((BSONValue) -> UpdateOperations.OnNull)? = nil, limits: NumberLimits? = nil
    ) {
        add(name, keyPath, onNull: onNull, limits: limits) {
            try StoredOrder.check(Operand.self, QueryCoding.strategies, at: keyPath.shown)
            return try QueryCoding.value(of: operand)
        }
    }

    /// Appends elements to an array.
    public mutating func append<Value: Encodable>(_ keyPath: KeyPath<Element, [Value]>, _ elements: Value...) {
        add("$push", keyPath) { ["$each": BSONValue(try elements.map { try QueryCoding.value(of: $0) })] }
    }

    /// Appends elements to an array that may be nil, which counts as empty.
    public mutating func append<Value: Encodable>(_ keyPath: KeyPath<Element, [Value]?>, _ elements: Value...) {
        add("$push", keyPath, onNull: { .set($0.documentValue?["$each"] ?? $0) }) {
            ["$each": BSONValue(try elements.map { try QueryCoding.value(of: $0) })]
        }
    }

    /// Inserts elements that are not there yet: into a set, or at the end of an array. One that is nil counts as empty.
    public mutating func insert<Values: QueryArray>(
        _ keyPath: KeyPath<Element, Values>, _ elements: Values.QueryElement...
    )
    where Values.QueryElement: Encodable {
        let isOptional = Values.self is any OptionalValue.Type
        add("$addToSet", keyPath, onNull: isOptional ? { .set(Self.distinct($0.documentValue?["$each"] ?? $0)) } : nil)
        {
            ["$each": BSONValue(try elements.map { try QueryCoding.value(of: $0) })]
        }
    }

    /// Removes all elements that equal one of some values from an array or a set.
    public mutating func remove<Values: QueryArray>(
        _ keyPath: KeyPath<Element, Values>, _ elements: Values.QueryElement...
    )
    where Values.QueryElement: Encodable {
        let isOptional = Values.self is any OptionalValue.Type
        add("$pullAll", keyPath, onNull: isOptional ? { _ in .nothing } : nil) {
            BSONValue(try elements.map { try QueryCoding.value(of: $0) })
        }
    }

    /// The elements of an array, each once.
    private static func distinct(_ array: BSONValue) -> BSONValue {
        var elements: [BSONValue] = []
        for element in array.arrayValue ?? [] where !elements.contains(element) { elements.append(element) }
        return BSONValue(elements)
    }
}
