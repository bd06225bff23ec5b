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
