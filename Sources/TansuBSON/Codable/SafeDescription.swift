import Foundation

/// The text of a value of any type, for an error: its description, or the name of its type where the description could
/// end the process.
///
/// Foundation's description of a date traps on NaN, and descriptions of values in values recurse without a limit.
package func safeDescription(of value: Any) -> String {
    "\(safeValue(value))"
}

/// What an error holds instead of a value, because whoever prints the error describes it: the seconds since 1970 of a
/// date, and the name of the type of what has no safe description.
package func safeValue(_ value: Any) -> Any {
    if let date = value as? Date { return date.timeIntervalSince1970 }
    var budget = 10_000
    return isDescribable(value, depth: 0, &budget) ? value : "\(type(of: value))"
}

/// The error as the underlying one of another, whose description has its description: `nil` where that is not safe.
package func safeError(_ error: any Error) -> (any Error)? {
    var budget = 10_000
    return isDescribable(error, depth: 0, &budget) ? error : nil
}

/// Why a value could not be encoded or decoded, without a description of the value.
package func failureReason(of error: any Error) -> String {
    switch error {
    case EncodingError.invalidValue(_, let context): context.debugDescription
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context.debugDescription
    default: safeDescription(of: error)
    }
}

/// Whether a value has few enough values and levels to be looked at, and no date among them is NaN.
private func isDescribable(_ value: Any, depth: Int, _ budget: inout Int) -> Bool {
    budget -= 1
    guard depth < 100, budget > 0 else { return false }
    switch value {
    case let date as Date: return !date.timeIntervalSince1970.isNaN
    // Their descriptions are safe, and their bytes are many values.
    case is String, is Data, is BSONValue, is BSONDocument, is BSONArray: return true
    default: break
    }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let level = mirror {
        for child in level.children {
            guard isDescribable(child.value, depth: depth + 1, &budget) else { return false }
        }
        mirror = level.superclassMirror
    }
    return true
}
