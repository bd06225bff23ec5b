extension Database.Explanation: CustomStringConvertible {
    /// The explanation in a few lines of text.
    public var description: String {
        var lines = [plan.description]
        lines.append(
            "examined: \(keysExamined) index keys, \(documentsExamined) documents; returned: \(returned); "
                + "\(milliseconds) ms")
        if spilledBytes != 0 { lines.append("spilled to temporary files: \(spilledBytes) bytes") }
        let others = candidates.filter { !$0.isChosen }.map(\.description)
        if !others.isEmpty { lines.append("rejected plans: \(others.joined(separator: ", "))") }
        if let suggestion {
            let keys = suggestion.map { "\($0.path) \($0.direction)" }
            lines.append("suggested index: \(keys.joined(separator: ", "))")
        }
        return lines.joined(separator: "\n")
    }
}

extension Database.Explanation.Plan: CustomStringConvertible {
    /// The plan in one line.
    public var description: String {
        let text = kind.text(accesses.map(\.description).joined(separator: "; ")) + order.text
        return isCovered ? text + ", covering index" : text
    }
}

extension Database.Explanation.Candidate: CustomStringConvertible {
    /// The plan in short.
    public var description: String { kind.text(index ?? "several indexes") + order.text }
}

extension Database.Explanation.Kind {
    fileprivate func text(_ indexes: String) -> String {
        switch self {
        case .none: "no access: no document can match"
        case .scan: "collection scan"
        case .index: "index scan of \(indexes)"
        case .union: "the union of \(indexes)"
        case .intersection: "the intersection of \(indexes)"
        case .other(let name): name
        }
    }
}

extension Database.Explanation.Order {
    fileprivate var text: String {
        switch self {
        case .none: ""
        case .index: ", in the order of the index"
        case .memory: ", sorted in memory"
        }
    }
}

extension Database.Explanation.Access: CustomStringConvertible {
    /// The index and its ranges.
    public var description: String {
        ranges.isEmpty ? index : "\(index) \(ranges)"
    }
}
