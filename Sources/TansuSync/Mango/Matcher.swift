#if TansuSync
import TansuBSON

extension Mango {
    /// Tests values against conditions.
    struct Matcher {
        let collation: Collation

        /// Below a field `_id` CouchDB compares by Erlang's order of terms.
        enum Order {
            case collation
            case terms
        }

        /// Why the evaluation of a condition below `$elemMatch` and its like stops: CouchDB fails inside and takes that
        /// as no match.
        private enum Failure: Error {
            case unknownOperator
            case query(QueryError)
        }

        func matches(_ condition: Condition, _ value: BSONValue) throws(QueryError) -> Bool {
            do {
                return try matches(condition, value, by: .collation)
            } catch .query(let error) {
                throw error
            } catch {
                return false
            }
        }

        private func matches(_ condition: Condition, _ value: BSONValue, by order: Order) throws(Failure) -> Bool {
            switch condition {
            case .everything: return true
            case .and(let conditions):
                for condition in conditions where try !matches(condition, value, by: order) { return false }
                return true
            case .or(let conditions):
                for condition in conditions where try matches(condition, value, by: order) { return true }
                // CouchDB takes a list without conditions as true.
                return conditions.isEmpty
            case .not(let condition): return try !matches(condition, value, by: order)
            case .nor: throw .unknownOperator
            case .field(let path, let condition):
                if path.keys.isEmpty { return try matches(condition, value, by: order) }
                switch path.found(in: value) {
                case .value(let found):
                    return try matches(condition, found, by: path.text == "_id" ? .terms : order)
                case .missing:
                    if case .test(.exists(false)) = condition { return true }
                    return false
                case .noWay: return false
                }
            case .test(let test): return try matches(test, value, by: order)
            }
        }

        private func matches(_ test: Test, _ value: BSONValue, by order: Order) throws(Failure) -> Bool {
            switch test {
            case .compare(let comparison, let argument):
                return comparison.holds(try compare(value, argument, by: order))
            case .isIn(let arguments): return try isAny(arguments, value, by: order)
            case .isNotIn(let arguments): return try !isAny(arguments, value, by: order)
            case .all(let arguments): return hasAll(arguments, value)
            case .exists(let exists): return exists
            case .type(let name): return value.mangoType == name
            case .remainder(let divisor, let rest):
                guard let number = value.wholeNumber else { return false }
                // The smallest integer has no remainder of -1 in Swift.
                return (divisor == -1 ? 0 : number % divisor) == rest
            case .pattern(let pattern):
                guard case .string(let text) = value else { return false }
                do throws(QueryError) { return try pattern.matches(text) } catch { throw .query(error) }
            case .beginsWith(let prefix):
                guard case .string(let text) = value else { return false }
                return text.hasErlangPrefix(prefix)
            case .size(let size):
                guard case .array(let array) = value else { return false }
                return array.count == size
            case .elements(let quantifier, let condition):
                return try matches(quantifier, condition, value, by: order)
            }
        }

        private func compare(
            _ a: BSONValue, _ b: BSONValue, by order: Order
        ) throws(Failure) -> Collation.Order {
            guard order == .collation else { return TermOrder.order(a, b) }
            do throws(CollationError) { return try collation.order(a, b) } catch { throw .query(QueryError(error)) }
        }

        /// Whether the value, or an element of it when it is an array, equals one of the arguments.
        private func isAny(_ arguments: [BSONValue], _ value: BSONValue, by order: Order) throws(Failure) -> Bool {
            guard case .array(let array) = value else {
                for argument in arguments where try compare(value, argument, by: order) == .same { return true }
                return false
            }
            for element in array {
                for argument in arguments where try compare(element, argument, by: order) == .same { return true }
            }
            return false
        }

        /// Whether an array has all arguments, or is the only argument.
        private func hasAll(_ arguments: [BSONValue], _ value: BSONValue) -> Bool {
            guard case .array(let array) = value, !arguments.isEmpty else { return false }
            let elements = Array(array)
            if arguments.allSatisfy({ argument in elements.contains { $0.isIdentical(to: argument) } }) {
                return true
            }
            guard arguments.count == 1, case .array = arguments[0] else { return false }
            return TermOrder.order(arguments[0], value) == .same
        }

        private func matches(
            _ quantifier: Quantifier, _ condition: Condition, _ value: BSONValue, by order: Order
        ) throws(Failure) -> Bool {
            do throws(Failure) {
                switch (quantifier, value.jsonForm) {
                case (.element, .array(let array)):
                    for element in array where try matches(condition, element, by: order) { return true }
                case (.everyElement, .array(let array)):
                    for element in array where try !matches(condition, element, by: order) { return false }
                    return !array.isEmpty
                case (.key, .document(let document)):
                    for key in document.keys where try matches(condition, .string(key), by: order) { return true }
                default: break
                }
                return false
            } catch {
                if case .query = error { throw error }
                return false
            }
        }
    }
}

extension BSONValue {
    /// CouchDB's name of the value's type.
    fileprivate var mangoType: String {
        switch jsonForm {
        case .null: "null"
        case .bool: "boolean"
        case .string: "string"
        case .array: "array"
        case .document: "object"
        default: "number"
        }
    }

    /// Whether `$all` takes two values as the same: 1 and 1.0 are not.
    fileprivate func isIdentical(to other: BSONValue) -> Bool {
        switch (self, other) {
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isIdentical(to: $1) }
        case (.document(let a), .document(let b)):
            return a.count == b.count
                && zip(a, b).allSatisfy {
                    $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.isIdentical(to: $1.value)
                }
        default:
            if JSONNumber(self) != nil, (wholeNumber == nil) != (other.wholeNumber == nil) { return false }
            return TermOrder.order(self, other) == .same
        }
    }
}

extension String {
    /// Whether the text begins with a prefix as Erlang's `string:prefix` has it: the last character of the prefix must
    /// not go on in the text, so that "e" is no prefix of "é" in two code points.
    fileprivate func hasErlangPrefix(_ prefix: String) -> Bool {
        guard let last = prefix.unicodeScalars.last else { return true }
        var rest = unicodeScalars[...]
        for scalar in prefix.unicodeScalars.dropLast() {
            guard rest.popFirst() == scalar else { return false }
        }
        guard rest.first == last else { return false }
        // Only what begins with the last scalar decides where its character ends.
        return Substring(rest).first?.unicodeScalars.count == 1
    }
}
#endif
