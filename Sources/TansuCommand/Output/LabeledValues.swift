import TansuBSON

/// The formatting of labels and values as lines with aligned values.
enum LabeledValues {
    /// The lines of a list of labels and values.
    static func lines(_ values: [(label: String, value: String)], terminal: Terminal) -> [String] {
        let width = values.map { DisplayWidth.of($0.label) }.max() ?? 0
        return values.map { label, value in
            let padding = String(repeating: " ", count: width - DisplayWidth.of(label))
            return "\(terminal.dim(label))\(padding)  \(value)"
        }
    }

    /// A label made from a camel-case key: "Keys examined" for "keysExamined".
    static func label(_ key: String) -> String {
        var result = ""
        for character in key {
            if character.isUppercase, !result.isEmpty { result.append(" ") }
            result += result.isEmpty ? character.uppercased() : character.lowercased()
        }
        return TextTable.printable(result)
    }

    /// The text of a value.
    static func text(_ value: BSONValue) -> String {
        switch value {
        case .int32(let number): NumberFormat.grouped(Int64(number))
        case .int64(let number): NumberFormat.grouped(number)
        case .double(let number): NumberFormat.decimals(number, 3)
        default: TextTable.Cell(value).text
        }
    }
}
