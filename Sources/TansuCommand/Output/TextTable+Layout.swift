extension TextTable {
    /// The widths and alignments of the columns, with which rows are formatted one at a time.
    struct Layout: Sendable {
        private struct Column {
            let heading: String
            var width: Int
            /// The alignment of the first cell that is not empty. The heading has it too.
            var alignment: Alignment?
        }

        private var columns: [Column] = []

        var columnCount: Int { columns.count }

        mutating func addColumn(_ heading: String) {
            let heading = TextTable.printable(heading)
            columns.append(Column(heading: heading, width: DisplayWidth.of(heading)))
        }

        /// Widens the columns for a row. Missing cells are nil.
        mutating func measure(_ row: [Cell?]) {
            for (index, cell) in row.enumerated() where index < columns.count {
                guard let cell, !cell.text.isEmpty else { continue }
                columns[index].width = max(columns[index].width, cell.width)
                if columns[index].alignment == nil { columns[index].alignment = cell.alignment }
            }
        }

        /// Narrows the columns to the width of a line. Only the widest columns shrink, so that narrow columns stay
        /// complete if possible.
        mutating func fit(_ maximumWidth: Int?) {
            guard let maximumWidth, !columns.isEmpty else { return }
            let available = max(maximumWidth - gap.count * (columns.count - 1), columns.count * 4)
            var excess = columns.reduce(0) { $0 + $1.width } - available
            while excess > 0 {
                guard let widest = columns.map(\.width).max(), widest > 4 else { break }
                let next = columns.map(\.width).filter { $0 < widest }.max() ?? 4
                let indices = columns.indices.filter { columns[$0].width == widest }
                let step = max(1, min(widest - max(next, 4), excess / indices.count))
                for index in indices where excess > 0 {
                    columns[index].width -= step
                    excess -= step
                }
            }
        }

        /// The headings and a rule.
        func head(style: Terminal) -> [String] {
            let headings = line(columns.map { Cell($0.heading, alignment: $0.alignment ?? .left) })
            let rule = columns.map { String(repeating: "─", count: $0.width) }.joined(separator: gap)
            return [style.bold(headings), style.dim(rule)]
        }

        /// The line of a row, without spaces at its end.
        func line(_ row: [Cell?]) -> String {
            var line = ""
            // The spaces before the next text.
            var spaces = 0
            for (index, column) in columns.enumerated() {
                if index > 0 { spaces += gap.count }
                guard index < row.count, let cell = row[index], !cell.text.isEmpty else {
                    spaces += column.width
                    continue
                }
                var (text, width) = (cell.text, cell.width)
                if width > column.width {
                    text = TextTable.truncated(text, width: column.width)
                    width = DisplayWidth.of(text)
                }
                let padding = max(0, column.width - width)
                if cell.alignment == .right { spaces += padding }
                line += String(repeating: " ", count: spaces)
                line += text
                spaces = cell.alignment == .left ? padding : 0
            }
            while line.utf8.last == 0x20 { line.removeLast() }
            return line
        }

        private let gap = "  "
    }
}
