import TansuBSON

/// Labels and values one below the other.
enum Facts {
    /// The lines of a list of labels and values; values begin in one column.
    static func lines(_ facts: [(label: String, value: String)], terminal: Terminal) -> [String] {
        let width = facts.map { DisplayWidth.of($0.label) }.max() ?? 0
        return facts.map { label, value in
            let padding = String(repeating: " ", count: width - DisplayWidth.of(label))
            return "\(terminal.dim(label))\(padding)  \(value)"
        }
    }

    /// The fields of a document in the same way, for what has no words of its own here.
    static func lines(_ document: BSONDocument, terminal: Terminal) -> [String] {
        lines(document.map { (words($0.key), text($0.value)) }, terminal: terminal)
    }

    /// "keysExamined" as "Keys examined".
    static func words(_ key: String) -> String {
        var result = ""
        for character in key {
            if character.isUppercase, !result.isEmpty { result.append(" ") }
            result += result.isEmpty ? character.uppercased() : character.lowercased()
        }
        return TextTable.printable(result)
    }

    /// A value on one line.
    static func text(_ value: BSONValue) -> String {
        switch value {
        case .int32(let number): Numbers.grouped(Int64(number))
        case .int64(let number): Numbers.grouped(number)
        case .double(let number): Numbers.decimals(number, 3)
        default: TextTable.Cell(value).text
        }
    }
}
