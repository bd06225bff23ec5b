/// A table in plain text: columns aligned by what the terminal shows, not by what Swift counts.
struct TextTable: Sendable {
    enum Alignment: Sendable { case left, right }

    struct Cell: Sendable, Equatable {
        var text: String
        var alignment = Alignment.left

        /// Characters that would move the cursor or turn the line around are shown as escapes: a
        /// document is no program for the terminal.
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

    /// The table's lines, none of them ended: headings, a rule, the rows.
    ///
    /// - Parameters:
    ///   - maximumWidth: Columns that a line may take; the widest cells are cut to fit.
    ///   - style: Says how headings and rules look.
    func lines(maximumWidth: Int? = nil, style: Terminal = .plain) -> [String] {
        guard !headings.isEmpty else { return [] }
        let widths = columnWidths(maximumWidth: maximumWidth)
        let alignments = headings.indices.map { column in
            // A column is as its cells are; its heading stands over them.
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

    /// Joins the cells of a line; blanks at its end are of no use to anyone.
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
        // Taking from the widest leaves narrow columns whole for as long as can be.
        let room = max(
            maximumWidth - TextTable.gap.count * (widths.count - 1), widths.count * 4)
        var excess = widths.reduce(0, +) - room
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

    /// The text cut to that many columns, with an ellipsis where something is missing.
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

    /// The text with control and direction-changing characters as visible escapes.
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
    /// No terminal at all: text without any style.
    static let plain = Terminal(isInteractive: false, width: nil, allowsStyle: false)
}
