// Comparisons with numbers of Swift are by value: a sum is an int32, an int64, a double or a decimal, as its documents have it.
// Two values of BSON are equal only when their types are.
extension BSONValue? {
    /// Whether the value is a number that equals another, whatever its type: `.int64(3) == 3`.
    public static func == (value: Self, number: Int) -> Bool { value?.intValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Int) -> Bool { !(value == number) }

    /// Whether the value is a number that equals another, whatever its type: `.int32(3) == 3.0`.
    public static func == (value: Self, number: Double) -> Bool { value?.doubleValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Double) -> Bool { !(value == number) }
}

extension BSONValue {
    /// Whether the value is a number that equals another, whatever its type: `.int64(3) == 3`.
    public static func == (value: Self, number: Int) -> Bool { value.intValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Int) -> Bool { !(value == number) }

    /// Whether the value is a number that equals another, whatever its type: `.int32(3) == 3.0`.
    public static func == (value: Self, number: Double) -> Bool { value.doubleValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Double) -> Bool { !(value == number) }
}
