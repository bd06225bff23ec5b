// Enums with raw values. Disfavoured, so that an enum that is also a QueryValue is not ambiguous.
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
        isOne(of: values)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`(_ values: Set<Value>) -> Database.Condition where Value: Hashable {
        isOne(of: values)
    }
}

extension Database.Field where Value: RawRepresentable & Encodable, Value.RawValue: QueryComparable {
    /// Its raw value is less than that of a value.
    @_disfavoredOverload
    public static func < (field: Self, value: Value) -> Database.Condition {
        field.compare(.less, value)
    }

    /// Its raw value is less than that of a value or equals it.
    @_disfavoredOverload
    public static func <= (field: Self, value: Value) -> Database.Condition {
        field.compare(.lessOrEqual, value)
    }

    /// Its raw value is greater than that of a value.
    @_disfavoredOverload
    public static func > (field: Self, value: Value) -> Database.Condition {
        field.compare(.greater, value)
    }

    /// Its raw value is greater than that of a value or equals it.
    @_disfavoredOverload
    public static func >= (field: Self, value: Value) -> Database.Condition {
        field.compare(.greaterOrEqual, value)
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
        isOne(of: values)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable & Hashable>(
        _ values: Set<Wrapped>
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        isOne(of: values)
    }

    /// It is one of some values; nil where there is none.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable>(
        _ values: [Wrapped?]
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        isOne(of: values)
    }

    /// Its raw value is less than that of a value; false where there is none.
    @_disfavoredOverload
    public static func < <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.less, value)
    }

    /// Its raw value is less than that of a value or equals it; false where there is none.
    @_disfavoredOverload
    public static func <= <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.lessOrEqual, value)
    }

    /// Its raw value is greater than that of a value; false where there is none.
    @_disfavoredOverload
    public static func > <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.greater, value)
    }

    /// Its raw value is greater than that of a value or equals it; false where there is none.
    @_disfavoredOverload
    public static func >= <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.greaterOrEqual, value)
    }
}
