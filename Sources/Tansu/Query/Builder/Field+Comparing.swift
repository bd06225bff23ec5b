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
        condition { .isOne($0, of: try values.map(QueryCoding.value(of:))) }
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
}

// For enums with raw values; disfavoured so that an enum that is also a QueryValue is not ambiguous.
extension Database.Field where Value: RawRepresentable & Encodable, Value.RawValue: QueryValue {
    /// It equals a value.
    @_disfavoredOverload
    public static func == (field: Self, value: Value) -> Database.Condition {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    @_disfavoredOverload
    public static func != (field: Self, value: Value) -> Database.Condition {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`(_ values: [Value]) -> Database.Condition {
        condition { .isOne($0, of: try values.map(QueryCoding.value(of:))) }
    }
}

extension Database.Field {
    /// It equals a value; nil where there is none.
    @_disfavoredOverload
    public static func == <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped?
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    @_disfavoredOverload
    public static func != <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped?
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable>(
        _ values: [Wrapped]
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        condition { .isOne($0, of: try values.map(QueryCoding.value(of:))) }
    }

    func compare(_ relation: Relation, _ value: some Encodable) -> Database.Condition {
        condition { .compare($0, relation, try QueryCoding.value(of: value)) }
    }
}
