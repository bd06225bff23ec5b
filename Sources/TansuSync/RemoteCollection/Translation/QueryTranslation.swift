#if TansuSync
import TansuBSON

/// Makes a selector of Mango of a query, so that each document that matches the query matches the selector. What a server finds too
/// much is tested once more by the query itself.
struct QueryTranslation {
    /// The greatest number of keys in a path on which every array on the way is said.
    static let pathLimit = 4

    /// How ids are stored in the documents that the query is about.
    let hasObjectIDs: Bool
    /// Whether arrays and numbers that JSON lacks are left out of account.
    let isPlain: Bool
    /// The first condition of which nothing can be said.
    private(set) var unsaid: Unsaid?

    /// A condition that Mango has no words for.
    struct Unsaid: Sendable {
        let location: String
        let operation: String

        init(_ keys: [String], _ operation: String) {
            location = keys.joined(separator: ".")
            self.operation = operation
        }
    }

    init(hasObjectIDs: Bool = false, isPlain: Bool = false) {
        self.hasObjectIDs = hasObjectIDs
        self.isPlain = isPlain
    }

    // MARK: Documents

    /// The conditions on a document, or on an element of an array.
    mutating func query(_ query: BSONDocument, isElement: Bool = false) throws(SyncError) -> SelectionBounds {
        var parts: [SelectionBounds] = []
        if isElement, query.keys.contains(where: { Self.isOperator($0) && !Self.isLogic($0) }) {
            return try member([], .document(query))
        }
        for (key, value) in query {
            switch key {
            case "$and": parts.append(.every(try queries(value, isElement)))
            case "$or": parts.append(.any(try queries(value, isElement)))
            case "$nor": parts.append(opposite(.any(try queries(value, isElement)), [], key))
            case "$not":
                guard case .document(let inner) = value else { return unknown([], key) }
                parts.append(opposite(try self.query(inner, isElement: isElement), [], key))
            case "$comment": break
            case "$do":
                throw SyncError(
                    .unsupported,
                    "A server cannot be asked for joins (\"$do\"); read the documents that they lead to")
            default:
                guard !Self.isOperator(key), let keys = Self.keys(key) else {
                    parts.append(unknown([key], key))
                    continue
                }
                parts.append(try member(keys, value))
            }
        }
        var bounds = SelectionBounds.every(parts)
        // Not every element matches without a condition: only documents and arrays do.
        if isElement, case .all = bounds.lower { bounds.lower = .none }
        return bounds
    }

    private mutating func queries(
        _ value: BSONValue, _ isElement: Bool
    ) throws(SyncError) -> [SelectionBounds] {
        var parts: [SelectionBounds] = []
        for case .document(let part) in value.arrayValue ?? [] {
            parts.append(try query(part, isElement: isElement))
        }
        return parts
    }

    private static func isOperator(_ key: String) -> Bool { key.utf8.first == UInt8(ascii: "$") }
    private static func isLogic(_ key: String) -> Bool {
        ["$and", "$or", "$nor", "$not", "$comment"].contains(key)
    }

    private mutating func unknown(_ keys: [String], _ name: String) -> SelectionBounds {
        if unsaid == nil { unsaid = Unsaid(keys, name) }
        return .unknown
    }

    /// A negation, of which nothing can be said where not one document is known to match the condition.
    private mutating func opposite(
        _ bounds: SelectionBounds, _ keys: [String], _ name: String
    ) -> SelectionBounds {
        if case .none = bounds.lower, unsaid == nil { unsaid = Unsaid(keys, name) }
        return !bounds
    }

    /// The keys of a dotted path; nil for one with wildcards.
    static func keys(_ path: String) -> [String]? {
        var keys = [String.UnicodeScalarView()]
        var isEscaped = false
        var isWild = false
        for scalar in path.unicodeScalars {
            if isEscaped {
                keys[keys.count - 1].append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                keys.append(String.UnicodeScalarView())
            } else {
                if scalar == "*" { isWild = true }
                keys[keys.count - 1].append(scalar)
            }
        }
        return isWild ? nil : keys.map { String($0) }
    }

    // MARK: Fields

    /// A condition on the value at a path.
    private mutating func member(_ keys: [String], _ value: BSONValue) throws(SyncError) -> SelectionBounds {
        guard keys.isEmpty || Selection.canName(keys) else { return unknown(keys, "$eq") }
        switch value {
        case .document(let document) where document.keys.allSatisfy(Self.isOperator) && !document.isEmpty:
            guard !["$ref", "$id", "$db"].contains(document.keys[0]) else { return equal(keys, value) }
            var parts: [SelectionBounds] = []
            for (name, operand) in document {
                parts.append(try condition(keys, name, operand, document))
            }
            return .every(parts)
        case .document(let document):
            guard !document.isEmpty, !document.keys.contains(where: Self.isOperator) else {
                return unknown(keys, "$eq")
            }
            var parts: [SelectionBounds] = []
            for (path, inner) in document {
                guard let more = Self.keys(path) else { return unknown(keys + [path], "$eq") }
                parts.append(try member(keys + more, inner))
            }
            return .every(parts)
        case .regularExpression(let regex): return pattern(keys, regex.pattern, regex.options)
        default: return equal(keys, value)
        }
    }

    private mutating func condition(
        _ keys: [String], _ name: String, _ operand: BSONValue, _ all: BSONDocument
    ) throws(SyncError) -> SelectionBounds {
        switch name {
        case "$eq": return equal(keys, operand)
        case "$ne":
            if case .regularExpression = operand { return unknown(keys, name) }
            return opposite(equal(keys, operand), keys, name)
        case "$in": return try isIn(keys, name, operand)
        case "$nin": return opposite(try isIn(keys, name, operand), keys, name)
        case "$gt", "$gte", "$lt", "$lte": return range(keys, name, operand)
        case "$bt", "$between": return between(keys, name, operand)
        case "$and", "$or", "$nor":
            var parts: [SelectionBounds] = []
            for part in operand.arrayValue ?? [] { parts.append(try member(keys, part)) }
            if name == "$and" { return .every(parts) }
            return name == "$or" ? .any(parts) : opposite(.any(parts), keys, name)
        case "$not": return opposite(try member(keys, operand), keys, name)
        case "$exists":
            let isThere = exists(keys)
            return operand == .bool(true) || operand.doubleValue ?? 0 != 0 ? isThere : !isThere
        case "$begin", "$beginsWith": return text(keys, operand, BytePattern.beginning)
        case "$endsWith": return text(keys, operand, BytePattern.ending)
        case "$contains": return text(keys, operand, BytePattern.containing)
        case "$regex":
            if case .regularExpression(let regex) = operand { return pattern(keys, regex.pattern, regex.options) }
            return pattern(keys, operand.stringValue ?? "", all["$options"]?.stringValue ?? "")
        case "$options": return .everything
        case "$strand", "$stror": return some(keys, .type("string"))
        case "$icase":
            guard case .string = operand else { return unknown(keys, name) }
            return some(keys, .type("string"))
        case "$all":
            var parts: [SelectionBounds] = []
            for value in operand.arrayValue ?? [] {
                if case .regularExpression = value {
                    parts.append(try member(keys, value))
                } else {
                    parts.append(equal(keys, value))
                }
            }
            return parts.isEmpty ? .nothing : .every(parts)
        case "$size":
            guard let size = operand.int64Value else { return unknown(keys, name) }
            let test = Selection.field([], .holds("$size", .int64(size)))
            return SelectionBounds(upper: reach(keys, ValueTest(test), isUpper: true), lower: .none)
        case "$elemMatch", "$allMatch":
            guard case .document(let inner) = operand else { return unknown(keys, name) }
            var element = try query(inner, isElement: true)
            // An array in the array is an element without fields. To Mango its fields are neither there nor missing.
            if element.upper.acceptsMissing { element.upper = .any([element.upper, .type("array")]) }
            // A value of a type that JSON lacks has no fields here and is no match. To Mango it is an object.
            if element.lower.acceptsMissing { element.lower = .none }
            let hasOne = ValueTest(
                upper: .element([], element.upper),
                lower: name == "$elemMatch" ? .element([], element.lower) : .none)
            // Whether nested arrays count is left open.
            return SelectionBounds(
                upper: reach(keys, hasOne, isUpper: true), lower: hasOne.bounds.lower.placed(at: keys))
        case "$type":
            let names = operand.arrayValue.map { Array($0) } ?? [operand]
            return some(keys, .any(names.map { ValueTest.type(named: $0) }))
        case "$mod", "$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear":
            return some(keys, ValueTest(upper: .any([.type("number"), .type("object")])))
        case "$keyMapMatch": return some(keys, .type("object"))
        default: return unknown(keys, name)
        }
    }

    // MARK: Operators

    private mutating func equal(_ keys: [String], _ value: BSONValue) -> SelectionBounds {
        switch value {
        case .null: return isNull(keys)
        case .objectID(let id) where keys == ["_id"] && hasObjectIDs:
            return some(keys, ValueTest.equal(.string(id.hexString)))
        case .string where keys == ["_id"] && hasObjectIDs:
            return SelectionBounds(upper: reach(keys, .equal(value), isUpper: true), lower: .none)
        case .undefined, .minKey, .maxKey: return unknown(keys, "$eq")
        default: return some(keys, .equal(value))
        }
    }

    private mutating func isIn(
        _ keys: [String], _ name: String, _ operand: BSONValue
    ) throws(SyncError) -> SelectionBounds {
        guard case .array(let values) = operand else {
            throw SyncError(
                .unsupported,
                "A server cannot be asked for the subquery of \"\(name)\" at \"\(keys.joined(separator: "."))\"; "
                    + "find its values first, and give them as an array")
        }
        // Text and numbers in one condition, however many there are; of an array Mango tests the elements.
        var texts: [BSONValue] = []
        var parts: [SelectionBounds] = []
        var hasNumbers = false
        for value in values {
            switch value {
            case .string(let text) where text.utf8.count <= BytePattern.limit: texts.append(value)
            case .int32, .int64:
                texts.append(value)
                hasNumbers = true
            default: parts.append(try member(keys, literal(value)))
            }
        }
        guard texts.count > 4, !(hasObjectIDs && keys == ["_id"]) else {
            for value in texts { parts.append(equal(keys, value)) }
            return .any(parts)
        }
        let isOne = Selection.field([], .holds("$in", .array(BSONArray(texts))))
        var test = ValueTest(upper: hasNumbers ? .any([isOne, .type("object")]) : isOne)
        test.findsArrays = !hasNumbers
        // Few texts can be excluded, each by its bytes.
        if texts.count <= 50 { test.bounds.lower = .any(texts.map { ValueTest.equal($0).bounds.lower }) }
        parts.append(some(keys, test))
        return .any(parts)
    }

    /// A document in a list of values is a value, not a condition.
    private func literal(_ value: BSONValue) -> BSONValue {
        guard case .document = value else { return value }
        return .document(["$eq": value])
    }

    private mutating func range(_ keys: [String], _ name: String, _ value: BSONValue) -> SelectionBounds {
        if keys == ["_id"], hasObjectIDs {
            let text = value.objectIDValue.map { BSONValue.string($0.hexString) } ?? value
            return some(keys, ValueTest(upper: ValueTest.range(name, text).bounds.upper))
        }
        switch value {
        case .null:
            // Null and a missing field, and nothing else, are as great as null.
            return SelectionBounds(upper: isNull(keys).upper, lower: .none)
        case .undefined, .minKey, .maxKey, .regularExpression: return unknown(keys, name)
        default: return some(keys, .range(name, value))
        }
    }

    private mutating func between(_ keys: [String], _ name: String, _ operand: BSONValue) -> SelectionBounds {
        guard let ends = operand.arrayValue.map({ Array($0) }), ends.count == 2 else {
            return unknown(keys, name)
        }
        let isSorted: Bool
        switch (ends[0], ends[1]) {
        case (.string(let a), .string(let b)): isSorted = a.utf8.lexicographicallyPrecedes(b.utf8)
        case (.date(let a), .date(let b)): isSorted = a <= b
        case (.int32, .int32), (.int64, .int64), (.int32, .int64), (.int64, .int32):
            isSorted = (ends[0].int64Value ?? 0) <= (ends[1].int64Value ?? 0)
        case (.double(let a), .double(let b)) where a.isFinite && b.isFinite: isSorted = a <= b
        default:
            // A range of one end has the type of both.
            let part = ValueTest.range("$lte", ends[0])
            let other = ValueTest.range("$gte", ends[0])
            if case .all = part.bounds.upper { return unknown(keys, name) }
            return SelectionBounds(
                upper: .any([
                    reach(keys, part, isUpper: true), reach(keys, other, isUpper: true),
                ]), lower: .none)
        }
        guard keys != ["_id"] || !hasObjectIDs else { return unknown(keys, name) }
        let (low, high) = isSorted ? (ends[0], ends[1]) : (ends[1], ends[0])
        return some(keys, .every([.range("$gte", low), .range("$lte", high)]))
    }

    private mutating func text(
        _ keys: [String], _ operand: BSONValue, _ pattern: (String) -> String
    ) -> SelectionBounds {
        let texts = (operand.arrayValue.map { Array($0) } ?? [operand]).compactMap(\.stringValue)
        guard texts.allSatisfy({ $0.utf8.count <= BytePattern.limit }), keys != ["_id"] || !hasObjectIDs else {
            return some(keys, .type("string"))
        }
        return some(keys, .any(texts.map { .pattern(pattern($0)) }))
    }

    /// A regular expression of the query language, which is over characters: what it begins with.
    private mutating func pattern(_ keys: [String], _ pattern: String, _ options: String) -> SelectionBounds {
        var start = ""
        if pattern.utf8.first == UInt8(ascii: "^"), !pattern.utf8.contains(UInt8(ascii: "|")),
            !options.contains(where: { "imx".contains($0) })
        {
            for scalar in pattern.unicodeScalars.dropFirst() {
                let isPlain =
                    scalar.value >= 0x80 || scalar.properties.isAlphabetic || scalar == " "
                    || (scalar.value >= 0x30 && scalar.value <= 0x39)
                    || "-_,:;@/<>=!%&'\"~".unicodeScalars.contains(scalar)
                guard isPlain else {
                    // A quantifier may take the last one away.
                    if "*?{".unicodeScalars.contains(scalar) { _ = start.unicodeScalars.popLast() }
                    break
                }
                start.unicodeScalars.append(scalar)
            }
        }
        // A stored regular expression that equals it is an object.
        let found = Selection.field([], .holds("$regex", .string(BytePattern.beginning(start))))
        return some(keys, ValueTest(upper: .any([start.isEmpty ? .type("string") : found, .type("object")])))
    }

    // MARK: Paths

    /// Whether some value at a path passes a test; of an array at its end, an element as well.
    private func some(_ keys: [String], _ test: ValueTest) -> SelectionBounds {
        SelectionBounds(
            upper: reach(keys, test, isUpper: true), lower: reach(keys, test, isUpper: false))
    }

    /// Each way that leads to a value: a path enters each document of an array.
    private func reach(
        _ keys: [String], _ test: ValueTest, isUpper: Bool, isElement: Bool = false
    ) -> Selection {
        let bounds = keys.isEmpty ? test.element : test.bounds
        if isPlain, isUpper, !isElement, !keys.isEmpty { return test.plain.placed(at: keys) }
        let own = (isUpper ? bounds.upper : bounds.lower).placed(at: keys)
        var ways = [own]
        // Whether an element that is an array itself is looked into is left open.
        guard isUpper || !keys.isEmpty else { return own }
        if !(isUpper && test.findsArrays) {
            ways.append(.element(keys, isUpper ? test.element.upper : test.element.lower))
        }
        guard keys.count > 1 else { return .any(ways) }
        if keys.count > Self.pathLimit {
            if isUpper { ways += arrays(before: keys) }
            return .any(ways)
        }
        for count in 1..<keys.count {
            let rest = Array(keys[count...])
            guard Selection.canName(rest) else {
                if isUpper { ways.append(.type(Array(keys[..<count]), "array")) }
                continue
            }
            // A position in a nested array is none to the query language.
            guard isUpper || !rest.contains(where: Self.isPosition) else { continue }
            ways.append(
                .element(Array(keys[..<count]), reach(rest, test, isUpper: isUpper, isElement: true)))
        }
        return .any(ways)
    }

    private static func isPosition(_ key: String) -> Bool {
        !key.isEmpty && key.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }

    private func arrays(before keys: [String]) -> [Selection] {
        (1..<max(keys.count, 1)).map { .type(Array(keys[..<$0]), "array") }
    }

    /// The fields that are there.
    private func exists(_ keys: [String]) -> SelectionBounds {
        guard !keys.isEmpty else { return .everything }
        let there = Selection.field(keys, .exists(true))
        return SelectionBounds(upper: isPlain ? there : .any([there] + arrays(before: keys)), lower: there)
    }

    /// Null, and what is missing: also below a value that is no object.
    private func isNull(_ keys: [String]) -> SelectionBounds {
        let null = ValueTest(.field([], .holds("$eq", .null)))
        guard !keys.isEmpty else { return some(keys, null) }
        let isMissing = Selection.field(keys, .exists(true))
        let lower = [
            reach(keys, null, isUpper: false),
            .every(
                [isMissing.complement(isUpper: false)]
                    + (1..<max(keys.count, 1)).map {
                        Selection.type(Array(keys[..<$0]), "array").complement(isUpper: false)
                    }),
        ]
        let upper = [reach(keys, null, isUpper: true), isMissing.complement(isUpper: true)]
        return SelectionBounds(
            upper: .any(isPlain ? upper : upper + arrays(before: keys)), lower: .any(lower))
    }
}
#endif
