import TansuBSON

/// The formatting of the plan of a query, with its cost and a suggested index.
struct PlanFormatter {
    private let report: BSONDocument
    private let plan: BSONDocument
    private let terminal: Terminal
    /// Returns the command that creates an index with the given keys.
    private let indexCommand: (BSONDocument) -> String

    init(_ report: BSONDocument, terminal: Terminal, indexCommand: @escaping (BSONDocument) -> String) {
        self.report = report
        plan = report["plan"]?.documentValue ?? [:]
        self.terminal = terminal
        self.indexCommand = indexCommand
    }

    /// The lines of the plan.
    func lines() -> [String] {
        var values: [(label: String, value: String)] = [("Plan", terminal.bold(kind))]
        values += bounds
        if let order { values.append(("Order", order)) }
        values.append(
            (
                "Examined",
                "\(number("keysExamined", "index key")), \(number("documentsExamined", "document"))"
            ))
        values.append(("Returned", number("returned", "document")))
        if let spilled = report["spilledBytes"]?.intValue {
            values.append(("Spilled", "\(NumberFormat.count(spilled, "byte")) to temporary files"))
        }
        values.append(
            ("Time", NumberFormat.duration(milliseconds: report["milliseconds"]?.doubleValue ?? 0)))
        if let otherCandidates { values.append(("Rejected", otherCandidates)) }
        if let suggestion = report["suggestion"]?.documentValue {
            values.append(("Suggested index", indexCommand(suggestion)))
        }
        return LabeledValues.lines(values, terminal: terminal)
    }

    private var kind: String {
        switch plan["kind"]?.stringValue {
        case "none": return "empty: no document can match"
        case "scan": return "collection scan"
        case "index":
            let direction = plan["direction"]?.stringValue.map { ", \($0)" } ?? ""
            return "index scan of \(name(plan))\(direction)"
        case "union":
            let names = branches.map { name($0) }
            return "union of \(names.count) index scans: \(names.joined(separator: ", "))"
        case "text":
            let terms = plan["search"]?.documentValue?["term"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let words = terms.isEmpty ? "" : " for \(terms.joined(separator: ", "))"
            return "search of \(name(plan))\(TextTable.printable(words))"
        default: return TextTable.printable(plan.json())
        }
    }

    private var branches: [BSONDocument] {
        plan.documentList("branches")
    }

    private func name(_ access: BSONDocument) -> String {
        TextTable.printable(access["index"]?.stringValue ?? "")
    }

    /// The index bounds of each path.
    private var bounds: [(label: String, value: String)] {
        let accesses = branches.isEmpty ? [plan] : branches
        return accesses.flatMap { access -> [(label: String, value: String)] in
            let ranges = access["ranges"]?.documentValue ?? [:]
            return ranges.enumerated().map { number, range in
                let text = PlanFormatter.bounds(path: range.key, intervals: range.value.arrayValue ?? [])
                return (number == 0 ? "Bounds" : "", text)
            }
        }
    }

    /// The bounds on one path: `age ≥ 18 and < 30, or = 99`.
    static func bounds(path: String, intervals: BSONArray) -> String {
        let shown = intervals.prefix(5).map { interval -> String in
            let edges = interval.documentValue ?? [:]
            if edges.isEmpty { return "any value" }
            return edges.map { "\(sign($0.key)) \($0.value)" }.joined(separator: " and ")
        }
        let more = intervals.count > 5 ? ", and \(intervals.count - 5) more" : ""
        return TextTable.printable("\(path) \(shown.joined(separator: ", or "))\(more)")
    }

    private static func sign(_ name: String) -> String {
        switch name {
        case "$eq": "="
        case "$gt": ">"
        case "$gte": "≥"
        case "$lt": "<"
        case "$lte": "≤"
        case "$begin": "begins with"
        default: name
        }
    }

    private var order: String? {
        switch plan["sort"]?.stringValue {
        case "index": "index order, no sort"
        case "memory": "sort in memory"
        case "score": "best first, by the score"
        default: nil
        }
    }

    private var otherCandidates: String? {
        let candidates = report.documentList("candidates")
        let others = candidates.filter { $0["chosen"] != .bool(true) }.map { candidate in
            let access =
                candidate["index"] == nil
                ? TextTable.printable(candidate["kind"]?.stringValue ?? "") : "index \(name(candidate))"
            return access + (candidate["sort"] == .string("memory") ? " and sort" : "")
        }
        return others.isEmpty ? nil : others.joined(separator: ", ")
    }

    private func number(_ field: String, _ noun: String) -> String {
        NumberFormat.count(report[field]?.intValue ?? 0, noun)
    }
}
