#if TansuSync
import TansuBSON

extension Mango {
    /// A condition on documents, as CouchDB's `_find` has it.
    ///
    /// For example:
    /// ```swift
    /// let selector = try Mango.Selector(["age": ["$gt": 21], "tags": ["$elemMatch": ["$eq": "new"]]])
    /// try selector.matches(["age": 22, "tags": ["new"]])  // true
    /// ```
    package struct Selector: Sendable {
        let condition: Condition
        private let matcher: Matcher

        /// Reads a selector.
        ///
        /// - Throws: ``Mango/QueryError`` with CouchDB's name and reason.
        package init(_ document: BSONDocument) throws(QueryError) {
            do throws(CollationError) {
                matcher = Matcher(collation: try Collation.shared())
            } catch {
                throw QueryError(error)
            }
            guard !document.isEmpty else {
                condition = .everything
                return
            }
            var parser = ConditionParser()
            condition = try parser.parse(.document(document), at: "", depth: 1).normalized
            if case .field(let path, _) = condition, path.keys.isEmpty {
                throw QueryError("invalid_selector", "One or more conditions is missing a field name.")
            }
        }

        /// Whether a document matches.
        ///
        /// - Throws: ``Mango/QueryError`` when a regular expression takes too long.
        package func matches(_ document: BSONDocument) throws(QueryError) -> Bool {
            try matcher.matches(condition, .document(document))
        }

        /// The normalised selector, as `_explain` shows it.
        package var json: BSONDocument { condition.json }

        var collation: Collation { matcher.collation }
    }
}

// MARK: - Ranges

extension Mango.Selector {
    /// The ranges of a selector's fields.
    enum Ranges: Sendable {
        /// No value of this field can match.
        case empty(String)
        case fields([BytewiseText: Mango.KeyRange])

        var count: Int {
            if case .fields(let ranges) = self { ranges.count } else { 1 }
        }
    }

    /// The ranges of all fields that an index can serve.
    func ranges() throws(Mango.QueryError) -> Ranges {
        var ranges: [BytewiseText: Mango.KeyRange] = [:]
        for field in indexableFields {
            guard let range = try range(of: field) else { return .empty(field) }
            ranges[BytewiseText(field)] = range
        }
        return .fields(ranges)
    }

    /// The range of a field, or nil when no value can match.
    func range(of field: String) throws(Mango.QueryError) -> Mango.KeyRange? {
        do throws(CollationError) {
            return try condition.range(of: field, in: Mango.KeyRange(), collation)
        } catch {
            throw Mango.QueryError(error)
        }
    }

    /// The fields that the planner has a range of, in the order of their bytes.
    var indexableFields: [String] {
        var fields: Set<BytewiseText> = []
        condition.collectIndexableFields(&fields)
        return fields.sorted().map(\.text)
    }

    /// All fields of conditions that are not inside of another value.
    var fieldNames: [String] { condition.fieldNames }

    /// Whether each document that matches has all of some fields, as far as CouchDB's planner sees.
    func requires(_ fields: Set<BytewiseText>) -> Bool { condition.withoutRequired(fields).isEmpty }

    /// Whether a field has the same value in all documents that match.
    func isConstant(_ field: String) -> Bool { condition.isConstant(field) }

    /// Whether the selector is an empty list of conditions, which finds nothing although it matches.
    var findsNothing: Bool {
        switch condition {
        case .and(let conditions), .or(let conditions): conditions.isEmpty
        default: false
        }
    }
}

extension Mango.Condition {
    fileprivate func collectIndexableFields(_ fields: inout Set<BytewiseText>) {
        switch self {
        case .and(let conditions): conditions.forEach { $0.collectIndexableFields(&fields) }
        case .field(let path, .test(let test)) where test.isIndexable: fields.insert(BytewiseText(path.text))
        default: break
        }
    }

    fileprivate func range(
        of field: String, in range: Mango.KeyRange, _ collation: Collation
    ) throws(CollationError) -> Mango.KeyRange? {
        switch self {
        case .and(let conditions):
            var range = range
            for condition in conditions {
                guard let narrowed = try condition.range(of: field, in: range, collation) else { return nil }
                range = narrowed
            }
            return range
        case .field(let path, .test(.compare(let comparison, let value))) where path.text == field:
            return try range.narrowed(by: comparison, value, collation)
        case .field(let path, .test(.beginsWith(let prefix))) where path.text == field:
            return try range.narrowed(by: .greaterOrEqual, .string(prefix), collation)?
                .narrowed(by: .lessOrEqual, .string(prefix + "\u{10FFFF}"), collation)
        default: return range
        }
    }

    fileprivate var fieldNames: [String] {
        switch self {
        case .and(let conditions), .or(let conditions), .nor(let conditions): conditions.flatMap(\.fieldNames)
        case .field(let path, _): [path.text]
        default: []
        }
    }

    /// Which of some fields a document that matches may lack.
    func withoutRequired(_ fields: Set<BytewiseText>) -> Set<BytewiseText> {
        switch self {
        case .and(let conditions): conditions.reduce(fields) { $1.withoutRequired($0) }
        case .or(let conditions):
            conditions.reduce(into: Set()) { $0.formUnion($1.withoutRequired(fields)) }
        case .field(_, .test(.exists(false))): fields
        case .field(let path, _): fields.subtracting([BytewiseText(path.text)])
        default: fields
        }
    }

    fileprivate func isConstant(_ field: String) -> Bool {
        switch self {
        case .and(let conditions): conditions.contains { $0.isConstant(field) }
        case .field(let path, .test(.compare(.equal, _))): path.text == field
        default: false
        }
    }
}

extension Mango.Test {
    fileprivate var isIndexable: Bool {
        switch self {
        case .compare(.notEqual, _): false
        case .compare, .beginsWith, .exists(true): true
        default: false
        }
    }
}
#endif
