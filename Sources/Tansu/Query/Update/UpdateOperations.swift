/// The operators of an update by key path.
struct UpdateOperations: Sendable {
    /// More switches are an error: each combination of their states is an update.
    static let mostSwitches = 6

    /// One change of a property.
    struct Change: Sendable {
        let name: String
        let path: String
        let operand: BSONValue
        /// The path of the optional property that it is in: where that is nil, nothing is changed.
        var part: String?
        /// What is done instead where the property itself is stored as null; `nil` for the same as where it is missing.
        var onNull: OnNull?
        /// The numbers that the result would not fit into the type of the property.
        var limits: NumberLimits?

        /// The operand, or that for numbers that leave the range of an int64.
        fileprivate func operand(_ holding: Set<BytewiseText>) -> BSONValue {
            guard let wide = limits?.wide, holding.contains(Switch.crossing(path, wide).name) else { return operand }
            return wide.operand
        }
    }

    /// What is done where an optional property is stored as null, which operators on arrays and numbers do not take.
    enum OnNull: Sendable {
        case set(BSONValue)
        case nothing
    }

    /// A condition on which it depends what is done with a document.
    struct Switch: Sendable {
        fileprivate let name: BytewiseText
        /// Selects documents in which it is on, and in which it is off.
        fileprivate let conditions: (on: BSONDocument, off: BSONDocument)
        /// Selects documents without which all of them count as in the usual state; `nil` where none is usual.
        let unusual: BSONDocument?
        /// Whether the usual state is on.
        fileprivate let isUsuallyOn: Bool

        /// Whether an optional property has a value.
        fileprivate static func present(_ path: String, isRarelyNull: Bool) -> Switch {
            Switch(
                name: BytewiseText("present " + path), conditions: ([path: ["$ne": nil]], [path: ["$eq": nil]]),
                unusual: isRarelyNull ? [path: ["$type": "null"]] : nil, isUsuallyOn: true)
        }

        /// Whether a number would leave the range of an int64.
        fileprivate static func crossing(_ path: String, _ wide: NumberLimits.Wide) -> Switch {
            let condition = NumberLimits.condition(path, wide.outside)
            return Switch(
                name: BytewiseText("crossing " + path), conditions: (condition, ["$nor": [.document(condition)]]),
                unusual: condition, isUsuallyOn: false)
        }
    }

    private(set) var changes: [Change] = []

    /// What the changes depend on, those that always matter first.
    private(set) var switches: [Switch] = []

    var isEmpty: Bool { changes.isEmpty }

    /// Whether all documents are changed by the same operators, whatever they hold.
    var isUniform: Bool { switches.isEmpty && limits.isEmpty }

    /// The changes whose results may not fit into the type of the property.
    var limits: [(change: Change, condition: BSONDocument)] {
        changes.compactMap { change in
            guard let outside = change.limits?.outside else { return nil }
            return (change, NumberLimits.condition(change.path, outside))
        }
    }

    /// Whether an operator changes what is at a path.
    func changes(_ path: String) -> Bool { changes.contains { $0.path == path } }

    /// Adds a change.
    mutating func add(_ change: Change) throws {
        changes.append(change)
        if let part = change.part { add(.present(part, isRarelyNull: false)) }
        if change.onNull != nil { add(.present(change.path, isRarelyNull: true)) }
        if let wide = change.limits?.wide { add(.crossing(change.path, wide)) }
        guard switches.count(where: { $0.unusual == nil }) <= Self.mostSwitches else {
            throw Self.tooManySwitches(change.path)
        }
    }

    private mutating func add(_ new: Switch) {
        guard let index = switches.firstIndex(where: { $0.name == new.name }) else { return switches.append(new) }
        if new.unusual == nil { switches[index] = new }
    }

    static func tooManySwitches(_ path: String) -> TansuError {
        TansuError(
            .invalidQuery,
            "The update leads through, or changes, more than \(mostSwitches) optional properties; update them one after another",
            context: path)
    }

    /// The operators where no switch is off.
    var always: BSONDocument { operations(Set(switches.filter(\.isUsuallyOn).map(\.name))) }

    /// The operators on a document that an upsert inserts, in which what is not set is nil.
    var inserted: BSONDocument {
        changes.filter { $0.part == nil }.reduce(into: [:]) { operations, change in
            if case .set(let value)? = change.onNull {
                operations.add("$set", change.path, value)
            } else {
                operations.add(change.name, change.path, change.operand)
            }
        }
    }

    /// The update of each combination of the states of some switches, with the conditions for it. The others are in their usual
    /// state.
    ///
    /// A document matches one of them, and after its update none that comes later: a change turns a switch on, and those with
    /// most of them on come first.
    func combinations(of active: [Switch]) -> [(conditions: [BSONDocument], operations: BSONDocument)] {
        let usual = switches.filter { other in other.isUsuallyOn && !active.contains { $0.name == other.name } }
        var combinations: [(conditions: [BSONDocument], on: Set<BytewiseText>)] = [([], Set(usual.map(\.name)))]
        for item in active {
            let on = combinations.map { ($0.conditions + [item.conditions.on], $0.on.union([item.name])) }
            combinations = on + combinations.map { ($0.conditions + [item.conditions.off], $0.on) }
        }
        return combinations.map { ($0.conditions, operations($0.on)) }
    }

    /// The operators on documents in which some switches are on.
    private func operations(_ on: Set<BytewiseText>) -> BSONDocument {
        changes.reduce(into: [:]) { operations, change in
            if let part = change.part, !on.contains(Switch.present(part, isRarelyNull: false).name) { return }
            if let onNull = change.onNull, !on.contains(Switch.present(change.path, isRarelyNull: true).name) {
                if case .set(let value) = onNull { operations.add("$set", change.path, value) }
                return
            }
            operations.add(change.name, change.path, change.operand(on))
        }
    }
}

extension BSONDocument {
    /// Adds a field of an operator.
    fileprivate mutating func add(_ name: String, _ path: String, _ operand: BSONValue) {
        var fields = self[name]?.documentValue ?? [:]
        fields[path] = operand
        self[name] = .document(fields)
    }
}

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
