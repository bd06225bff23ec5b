#if TansuSync
import TansuBSON

extension Mango {
    /// The values of one field that a selector admits, as far as CouchDB's planner sees: by comparisons below `$and`.
    ///
    /// Every document that matches has a value in the range, by the collation. There is an exception that CouchDB shares: a
    /// `$beginsWith` whose prefix ends with a vowel sign that Thai or Lao sort after the next letter, or is followed
    /// by U+FFFF.
    package struct KeyRange: Sendable {
        /// The lowest value; nil when there is no bound.
        package var low: BSONValue?
        /// Whether the lowest value is part of the range.
        package var includesLow = false
        /// The highest value; nil when there is no bound.
        package var high: BSONValue?
        /// Whether the highest value is part of the range.
        package var includesHigh = false

        /// Where a value lies in a range.
        private enum Location {
            case below, low, inside, high, above
        }

        private func location(_ value: BSONValue, _ collation: Collation) throws(CollationError) -> Location {
            if let low {
                switch try collation.order(value, low) {
                case .before: return .below
                case .same: return .low
                case .after: break
                }
            }
            if let high {
                switch try collation.order(value, high) {
                case .before: break
                case .same: return .high
                case .after: return .above
                }
            }
            return .inside
        }

        /// The part of the range in which a comparison with a value holds; nil when it is empty.
        func narrowed(
            by comparison: Comparison, _ value: BSONValue, _ collation: Collation
        ) throws(CollationError) -> KeyRange? {
            let location = try location(value, collation)
            var range = self
            switch comparison {
            case .notEqual: break
            case .less:
                if location == .below || location == .low { return nil }
                if location != .above { (range.high, range.includesHigh) = (value, false) }
            case .lessOrEqual:
                if location == .low { return includesLow ? Self.only(value) : nil }
                if location == .below { return nil }
                if location == .inside { (range.high, range.includesHigh) = (value, true) }
            case .equal:
                switch location {
                case .below, .above: return nil
                case .low: return includesLow ? Self.only(value) : nil
                case .high: return includesHigh ? Self.only(value) : nil
                case .inside: return Self.only(value)
                }
            case .greaterOrEqual:
                if location == .high { return includesHigh ? Self.only(value) : nil }
                if location == .above { return nil }
                if location == .inside { (range.low, range.includesLow) = (value, true) }
            case .greater:
                if location == .high || location == .above { return nil }
                if location != .below { (range.low, range.includesLow) = (value, false) }
            }
            return range
        }

        private static func only(_ value: BSONValue) -> KeyRange {
            KeyRange(low: value, includesLow: true, high: value, includesHigh: true)
        }

        /// Whether a value is in the range.
        package func contains(_ value: BSONValue) throws(QueryError) -> Bool {
            do throws(CollationError) {
                let collation = try Collation.shared()
                if let low {
                    let order = try collation.order(value, low)
                    if order == .before || (order == .same && !includesLow) { return false }
                }
                if let high {
                    let order = try collation.order(value, high)
                    if order == .after || (order == .same && !includesHigh) { return false }
                }
                return true
            } catch {
                throw QueryError(error)
            }
        }
    }
}
#endif
