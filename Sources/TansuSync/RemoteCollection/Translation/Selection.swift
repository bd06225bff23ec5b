#if TansuSync
import TansuBSON

/// A part of a selector that is sent to a server: conditions whose meaning in Mango is plain.
indirect enum Selection: Sendable {
    /// Every document.
    case all
    /// No document.
    case none
    case and([Selection])
    case or([Selection])
    /// A test of the value that the keys lead to; of the value itself without any.
    case field([String], Test)

    enum Test: Sendable {
        /// An operator whose operand is a value.
        case holds(String, BSONValue)
        /// An operator that does not hold for a value that is there.
        case fails(String, BSONValue)
        case exists(Bool)
        /// An array with an element that matches; without one, or no array.
        case element(Selection)
        case noElement(Selection)
    }

    static func every(_ parts: [Selection]) -> Selection {
        var kept: [Selection] = []
        for part in parts {
            switch part {
            case .all: break
            case .none: return .none
            case .and(let inner): kept += inner
            default: kept.append(part)
            }
        }
        return kept.count > 1 ? .and(kept) : kept.first ?? .all
    }

    static func any(_ parts: [Selection]) -> Selection {
        var kept: [Selection] = []
        for part in parts {
            switch part {
            case .none: break
            case .all: return .all
            case .or(let inner): kept += inner
            default: kept.append(part)
            }
        }
        return kept.count > 1 ? .or(kept) : kept.first ?? .none
    }

    static func type(_ name: String) -> Selection { type([], name) }

    static func type(_ keys: [String], _ name: String) -> Selection {
        .field(keys, .holds("$type", .string(name)))
    }

    /// A value that is an array with an element that matches.
    static func element(_ keys: [String], _ selection: Selection) -> Selection {
        switch selection {
        case .none: .none
        case .all: .every([.type(keys, "array"), .field(keys, .fails("$size", 0))])
        default: .field(keys, .element(selection))
        }
    }

    /// The same of the value that keys lead to.
    func placed(at keys: [String]) -> Selection {
        if keys.isEmpty { return self }
        switch self {
        case .all, .none: return self
        case .and(let parts): return .and(parts.map { $0.placed(at: keys) })
        case .or(let parts): return .or(parts.map { $0.placed(at: keys) })
        case .field(let own, let test): return .field(keys + own, test)
        }
    }

    /// Whether a document that matches has a value at some keys, so that an index on them has it.
    func requires(_ keys: [String]) -> Bool {
        switch self {
        case .all: false
        case .none: true
        case .and(let parts): parts.contains { $0.requires(keys) }
        case .or(let parts): parts.allSatisfy { $0.requires(keys) }
        case .field(let own, .exists(let exists)): exists && own == keys
        case .field(let own, _): own == keys
        }
    }

    /// Whether some part holds for a field that is missing.
    var acceptsMissing: Bool {
        switch self {
        case .all, .none: return false
        case .and(let parts), .or(let parts): return parts.contains(where: \.acceptsMissing)
        case .field(let keys, let test):
            guard !keys.isEmpty else { return false }
            switch test {
            case .exists(let exists): return !exists
            case .fails, .noElement: return true
            case .holds, .element: return false
            }
        }
    }

    // MARK: Negation

    /// What the documents that do not match have in common.
    ///
    /// In Mango no operator holds for a missing field, nor for one below what is no object, where not even `$exists: false`
    /// does. These cases are said apart.
    ///
    /// - Parameter isUpper: Whether to name more documents rather than fewer where arrays on the way leave it open.
    func complement(isUpper: Bool) -> Selection {
        switch self {
        case .all: return .none
        case .none: return .all
        case .and(let parts): return .any(parts.map { $0.complement(isUpper: isUpper) })
        case .or(let parts): return .every(parts.map { $0.complement(isUpper: isUpper) })
        case .field(let keys, let test):
            var parts = [Selection]()
            switch test {
            case .holds(let name, let operand): parts = [.field(keys, .fails(name, operand))]
            case .fails(let name, let operand): parts = [.field(keys, .holds(name, operand))]
            case .element(let inner): parts = [.field(keys, .noElement(inner))]
            case .noElement(let inner): parts = [.field(keys, .element(inner))]
            case .exists(true): break
            case .exists(false): return .field(keys, .exists(true))
            }
            guard !keys.isEmpty else { return .any(parts) }
            // Below $elemMatch a $not stays where it is, and then holds for what is missing as well.
            if !isUpper { parts = parts.map { .every([.field(keys, .exists(true)), $0]) } }
            parts.append(.field(keys, .exists(false)))
            for count in 1..<max(keys.count, 1) {
                let way = Array(keys[..<count])
                let noObject = Selection.field(way, .fails("$type", "object"))
                parts.append(isUpper ? noObject : .every([noObject, .field(way, .fails("$type", "array"))]))
            }
            return .any(parts)
        }
    }

    // MARK: Text

    /// The selector.
    var document: BSONDocument {
        switch self {
        case .all: [:]
        case .none: ["_id": ["$in": []]]
        case .and(let parts): ["$and": .array(BSONArray(parts.map { .document($0.document) }))]
        case .or(let parts): ["$or": .array(BSONArray(parts.map { .document($0.document) }))]
        case .field(let keys, let test):
            keys.isEmpty ? test.document : [Self.path(keys): .document(test.document)]
        }
    }

    /// Keys as a path of Mango.
    static func path(_ keys: [String]) -> String {
        keys.map { key in
            var escaped = String.UnicodeScalarView()
            for scalar in key.unicodeScalars {
                if scalar == "." { escaped.append("\\") }
                escaped.append(scalar)
            }
            return String(escaped)
        }.joined(separator: ".")
    }

    /// Whether Mango can name keys: a backslash is dropped there, and what begins with a dollar is an operator.
    static func canName(_ keys: [String]) -> Bool {
        keys.first?.utf8.first != UInt8(ascii: "$")
            && keys.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "\\")) }
    }
}

extension Selection.Test {
    private static let opposites = [
        "$eq": "$ne", "$ne": "$eq", "$gt": "$lte", "$lte": "$gt", "$lt": "$gte", "$gte": "$lt", "$in": "$nin",
        "$nin": "$in",
    ]

    fileprivate var document: BSONDocument {
        switch self {
        case .holds(let name, let operand): return [name: operand]
        case .fails(let name, let operand):
            if let opposite = Self.opposites[name] { return [opposite: operand] }
            return ["$not": .document([name: operand])]
        case .exists(let exists): return ["$exists": .bool(exists)]
        case .element(let inner): return ["$elemMatch": .document(inner.document)]
        case .noElement(let inner): return ["$not": ["$elemMatch": .document(inner.document)]]
        }
    }
}

/// What a server can be asked for a condition of the query language: more documents than match, and fewer.
struct SelectionBounds: Sendable {
    /// Each document that matches is among these.
    var upper: Selection
    /// Each of these matches.
    var lower: Selection

    static let everything = Self(upper: .all, lower: .all)
    static let nothing = Self(upper: .none, lower: .none)
    /// Nothing is known.
    static let unknown = Self(upper: .all, lower: .none)

    static func every(_ parts: [Self]) -> Self {
        Self(upper: .every(parts.map(\.upper)), lower: .every(parts.map(\.lower)))
    }

    static func any(_ parts: [Self]) -> Self {
        Self(upper: .any(parts.map(\.upper)), lower: .any(parts.map(\.lower)))
    }

    static prefix func ! (bounds: Self) -> Self {
        Self(upper: bounds.lower.complement(isUpper: true), lower: bounds.upper.complement(isUpper: false))
    }
}
#endif
