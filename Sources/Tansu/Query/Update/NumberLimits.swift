/// The numbers with which an operator of an update would leave the range of a property's type, so that the document could not
/// be decoded any more.
///
/// The engine computes with what is stored: int32, int64, double or decimal128. It refuses results that are too large for
/// an int64; what fits into an `Int8`, a `UInt64` or a `Float` it does not know.
struct NumberLimits: Sendable {
    /// Numbers above or below some bounds.
    struct Outside: Sendable {
        var above: BSONValue?
        var below: BSONValue?
    }

    /// How a type of more than an int64 goes on beyond that.
    struct Wide: Sendable {
        /// The numbers with which the result is no int64.
        let outside: Outside
        /// The operand as a decimal128, so that the result is one, too.
        let operand: BSONValue
    }

    /// The numbers with which the result is none of the type; `nil` where the engine sees to it.
    private(set) var outside: Outside?
    private(set) var wide: Wide?
    /// The name of the type.
    let type: String

    /// The limits of a property.
    ///
    /// - Returns: `nil` for types that hold every result that the engine computes.
    static func of(_ operand: some Numeric, isProduct: Bool) -> NumberLimits? {
        if let float = operand as? Float { return NumberLimits(float, isProduct) }
        return (operand as? any FixedWidthInteger).flatMap { integers($0, isProduct) }
    }

    private static func integers<Number: FixedWidthInteger>(_ operand: Number, _ isProduct: Bool) -> NumberLimits? {
        if Number.isSigned, Number.bitWidth == Int64.bitWidth { return nil }
        return NumberLimits(operand, isProduct)
    }

    private init<Number: FixedWidthInteger>(_ operand: Number, _ isProduct: Bool) {
        type = "\(Number.self)"
        outside = Self.outside(operand, isProduct, Self.greatest(of: Number.self), Self.least(of: Number.self))
        guard Number.bitWidth > Int64.bitWidth || Number.max > Int64.max, let narrow = Int64(exactly: operand),
            let outside = Self.outside(narrow, isProduct, Int64.max, Int64.min), let decimal = Decimal128("\(operand)")
        else { return }
        wide = Wide(outside: outside, operand: .decimal128(decimal))
    }

    private init(_ operand: Float, _ isProduct: Bool) {
        type = "Float"
        let (most, number) = (Double(Float.greatestFiniteMagnitude), Double(operand))
        guard operand.isFinite else { return }
        if isProduct {
            guard abs(number) > 1 else { return }
            outside = Outside(above: .double(most / abs(number)), below: .double(-most / abs(number)))
        } else {
            outside = number > 0 ? Outside(above: .double(most - number)) : Outside(below: .double(-most - number))
        }
    }

    /// The greatest and the least number of a type that a document can hold: a decimal128 has 34 digits.
    private static func greatest<Number: FixedWidthInteger>(of type: Number.Type) -> Number {
        Number.bitWidth > Int64.bitWidth ? (0..<34).reduce(1) { number, _ in number * 10 } - 1 : .max
    }

    private static func least<Number: FixedWidthInteger>(of type: Number.Type) -> Number {
        Number.bitWidth > Int64.bitWidth && Number.isSigned ? 0 - greatest(of: type) : .min
    }

    /// The numbers with which the sum or the product is not between two bounds.
    private static func outside<Number: FixedWidthInteger>(
        _ operand: Number, _ isProduct: Bool, _ most: Number, _ least: Number
    ) -> Outside? {
        guard operand != 0 else { return nil }
        guard isProduct else {
            return operand > 0 ? Outside(above: value(most - operand)) : Outside(below: value(least - operand))
        }
        if operand > 0 { return Outside(above: value(most / operand), below: value(least / operand)) }
        let (above, overflows) = least.dividedReportingOverflow(by: operand)
        return Outside(above: overflows ? Optional.none : value(above), below: value(most / operand))
    }

    private static func value(_ number: some FixedWidthInteger) -> BSONValue? {
        Int64(exactly: number).map { .int64($0) } ?? Decimal128("\(number)").map { .decimal128($0) }
    }

    /// Selects documents with such a number at a path. Infinity stays what it is.
    static func condition(_ path: String, _ outside: Outside) -> BSONDocument {
        let above: BSONDocument? = outside.above.map { [path: ["$gt": $0, "$lt": .double(.infinity)]] }
        let below: BSONDocument? = outside.below.map { [path: ["$lt": $0, "$gt": .double(-.infinity)]] }
        return ["$or": BSONValue([above, below].compactMap { $0 }.map { .document($0) })]
    }
}
