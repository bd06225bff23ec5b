extension Database.Field where Value: QueryValue {
    /// It equals a value; nil where there is none.
    public static func == (field: Self, value: Value) -> Database.Condition {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    public static func != (field: Self, value: Value) -> Database.Condition {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    public func `in`(_ values: [Value]) -> Database.Condition {
        isOne(of: values)
    }

    /// It is one of some values.
    public func `in`(_ values: Set<Value>) -> Database.Condition where Value: Hashable {
        isOne(of: values)
    }
}

extension Database.Field where Value: QueryComparable {
    /// It is less than a value.
    public static func < (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.less, value)
    }

    /// It is less than a value or equals it.
    public static func <= (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.lessOrEqual, value)
    }

    /// It is greater than a value.
    public static func > (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.greater, value)
    }

    /// It is greater than a value or equals it.
    public static func >= (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.greaterOrEqual, value)
    }

    /// It is one of two values or lies between them.
    public func between(_ least: Value.QueryOperand, _ greatest: Value.QueryOperand) -> Database.Condition {
        compare(.greaterOrEqual, least) && compare(.lessOrEqual, greatest)
    }

    /// It lies in a range.
    public func `in`(_ range: ClosedRange<Value.QueryOperand>) -> Database.Condition {
        between(range.lowerBound, range.upperBound)
    }

    /// It lies in a range.
    public func `in`(_ range: Range<Value.QueryOperand>) -> Database.Condition {
        compare(.greaterOrEqual, range.lowerBound) && compare(.less, range.upperBound)
    }

    /// It is a value or greater.
    public func `in`(_ range: PartialRangeFrom<Value.QueryOperand>) -> Database.Condition {
        compare(.greaterOrEqual, range.lowerBound)
    }

    /// It is a value or less.
    public func `in`(_ range: PartialRangeThrough<Value.QueryOperand>) -> Database.Condition {
        compare(.lessOrEqual, range.upperBound)
    }

    /// It is less than a value.
    public func `in`(_ range: PartialRangeUpTo<Value.QueryOperand>) -> Database.Condition {
        compare(.less, range.upperBound)
    }
}

extension Database.Field {
    func compare<Operand: Encodable>(_ relation: Relation, _ value: Operand) -> Database.Condition {
        condition { path in
            if relation.isOrder { try QueryCoding.checkOrder(of: Operand.self, at: path) }
            return .compare(path, relation, forms: try QueryCoding.forms(of: value, at: path))
        }
    }

    func isOne(of values: some Collection<some Encodable>) -> Database.Condition {
        condition { path in .isOne(path, of: try values.flatMap { try QueryCoding.forms(of: $0, at: path) }) }
    }
}
