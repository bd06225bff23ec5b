/// A table in plain text. Columns are aligned by display width, not by the number of characters.
struct TextTable: Sendable {
    enum Alignment: Sendable { case left, right }

    struct Cell: Sendable, Equatable {
        var text: String
        var alignment = Alignment.left

        /// Creates a cell. Control characters and characters that change the text direction are escaped, so that a
        /// document cannot control the terminal.
        init(_ text: String, alignment: Alignment = .left) {
            self.text = TextTable.printable(text)
            self.alignment = alignment
        }
    }

    var headings: [String]
    var rows: [[Cell]] = []

    init(headings: [String]) {
        self.headings = headings.map(TextTable.printable)
    }

    /// The lines of the table without newlines: headings, a rule and the rows.
    ///
    /// - Parameters:
    ///   - maximumWidth: The maximum width of a line. The widest columns are truncated to fit.
    ///   - style: The terminal whose style applies to headings and rules.
    func lines(maximumWidth: Int? = nil, style: Terminal = .plain) -> [String] {
        guard !headings.isEmpty else { return [] }
        let widths = columnWidths(maximumWidth: maximumWidth)
        let alignments = headings.indices.map { column in
            // The heading has the alignment of the cells.
            rows.first { $0.indices.contains(column) && !$0[column].text.isEmpty }?[column]
                .alignment ?? .left
        }
        var lines: [String] = []
        let heading = zip(headings, zip(widths, alignments)).map { text, column in
            fitted(text, width: column.0, alignment: column.1)
        }
        lines.append(style.bold(joined(heading)))
        lines.append(style.dim(joined(widths.map { String(repeating: "─", count: $0) })))
        for row in rows {
            let cells = widths.indices.map { column in
                let cell = row.indices.contains(column) ? row[column] : Cell("")
                return fitted(cell.text, width: widths[column], alignment: cell.alignment)
            }
            lines.append(joined(cells))
        }
        return lines
    }

    private static let gap = "  "

    /// Joins the cells of a line and removes trailing spaces.
    private func joined(_ cells: [String]) -> String {
        var line = cells.joined(separator: TextTable.gap)
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    private func columnWidths(maximumWidth: Int?) -> [Int] {
        var widths = headings.map { DisplayWidth.of($0) }
        for row in rows {
            for (column, cell) in row.enumerated() where column < widths.count {
                widths[column] = max(widths[column], DisplayWidth.of(cell.text))
            }
        }
        guard let maximumWidth else { return widths }
        // Only the widest columns shrink, so that narrow columns stay complete if possible.
        let available = max(
            maximumWidth - TextTable.gap.count * (widths.count - 1), widths.count * 4)
        var excess = widths.reduce(0, +) - available
        while excess > 0 {
            guard let widest = widths.max(), widest > 4 else { break }
            let next = widths.filter { $0 < widest }.max() ?? 4
            let columns = widths.indices.filter { widths[$0] == widest }
            let step = max(1, min(widest - max(next, 4), excess / columns.count))
            for column in columns where excess > 0 {
                widths[column] -= step
                excess -= step
            }
        }
        return widths
    }

    private func fitted(_ text: String, width: Int, alignment: Alignment) -> String {
        let text = TextTable.truncated(text, width: width)
        let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
        return alignment == .left ? text + padding : padding + text
    }

    /// The text truncated to a width, with an ellipsis at the end if it was truncated.
    static func truncated(_ text: String, width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return text }
        var result = ""
        var used = 0
        for character in text {
            let columns = DisplayWidth.of(character)
            if used + columns > width - 1 { break }
            result.append(character)
            used += columns
        }
        return result + "…"
    }

    /// The text with control characters and characters that change the text direction escaped.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnprintable) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnprintable(scalar):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Terminal {
    /// Output that is not a terminal, without style.
    static let plain = Terminal(isInteractive: false, width: nil, allowsStyle: false)
}
