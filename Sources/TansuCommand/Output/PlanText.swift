import TansuBSON

/// A query's plan for people: how it was answered, what that took, and what would have helped.
struct PlanText {
    private let report: BSONDocument
    private let plan: BSONDocument
    private let terminal: Terminal
    /// Writes the command that creates the index with these keys.
    private let indexCommand: (BSONDocument) -> String

    init(_ report: BSONDocument, terminal: Terminal, indexCommand: @escaping (BSONDocument) -> String) {
        self.report = report
        plan = report["plan"]?.documentValue ?? [:]
        self.terminal = terminal
        self.indexCommand = indexCommand
    }

    /// One line a fact.
    func lines() -> [String] {
        var facts: [(label: String, value: String)] = [("Plan", terminal.bold(kind))]
        facts += bounds
        if let order { facts.append(("Order", order)) }
        facts.append(
            (
                "Examined",
                "\(count("keysExamined", "index key")), \(count("documentsExamined", "document"))"
            ))
        facts.append(("Returned", count("returned", "document")))
        if let spilled = report["spilledBytes"]?.intValue {
            facts.append(("Spilled", "\(Numbers.count(spilled, "byte")) to temporary files"))
        }
        facts.append(
            ("Time", Numbers.duration(milliseconds: report["milliseconds"]?.doubleValue ?? 0)))
        if let alternatives { facts.append(("Not taken", alternatives)) }
        if let suggestion = report["suggestion"]?.documentValue {
            facts.append(("An index would help", indexCommand(suggestion)))
        }
        return Facts.lines(facts, terminal: terminal)
    }

    private var kind: String {
        switch plan["kind"]?.stringValue {
        case "none": return "nothing to look at: no document can match"
        case "scan": return "every document of the collection is looked at"
        case "index":
            let direction = plan["direction"]?.stringValue.map { ", read \($0)" } ?? ""
            return "index \(name(plan))\(direction)"
        case "union":
            let names = branches.map { name($0) }
            return "the union of \(names.count) index ranges: \(names.joined(separator: ", "))"
        default: return TextTable.printable(plan.json())
        }
    }

    private var branches: [BSONDocument] {
        plan["branches"]?.arrayValue?.compactMap(\.documentValue) ?? []
    }

    private func name(_ access: BSONDocument) -> String {
        TextTable.printable(access["index"]?.stringValue ?? "")
    }

    /// What the index is read for, path by path.
    private var bounds: [(label: String, value: String)] {
        let accesses = branches.isEmpty ? [plan] : branches
        return accesses.flatMap { access -> [(label: String, value: String)] in
            let ranges = access["ranges"]?.documentValue ?? [:]
            return ranges.enumerated().map { number, range in
                let text = PlanText.bounds(path: range.key, intervals: range.value.arrayValue ?? [])
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
        case "index": "as the index has it, so nothing is sorted"
        case "memory": "sorted in memory"
        default: nil
        }
    }

    private var alternatives: String? {
        let candidates = report["candidates"]?.arrayValue?.compactMap(\.documentValue) ?? []
        let others = candidates.filter { $0["chosen"] != .bool(true) }.map { candidate in
            let access =
                candidate["index"] == nil
                ? TextTable.printable(candidate["kind"]?.stringValue ?? "") : "index \(name(candidate))"
            return access + (candidate["sort"] == .string("memory") ? " and sort" : "")
        }
        return others.isEmpty ? nil : others.joined(separator: ", ")
    }

    private func count(_ field: String, _ noun: String) -> String {
        Numbers.count(report[field]?.intValue ?? 0, noun)
    }
}
