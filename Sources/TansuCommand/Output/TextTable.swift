/// A table in plain text. Columns are aligned by display width, not by the number of characters.
struct TextTable: Sendable {
    enum Alignment: Sendable { case left, right }

    struct Cell: Sendable, Equatable {
        let text: String
        let alignment: Alignment
        /// The width of the text in columns.
        let width: Int

        /// Creates a cell. Control characters and characters that change the text direction are escaped, so that a
        /// document cannot control the terminal.
        init(_ text: String, alignment: Alignment = .left) {
            self.text = TextTable.printable(text)
            self.alignment = alignment
            width = DisplayWidth.of(self.text)
        }
    }

    var headings: [String]
    var rows: [[Cell]] = []

    init(headings: [String]) {
        self.headings = headings
    }

    /// The lines of the table without newlines: headings, a rule and the rows.
    ///
    /// - Parameters:
    ///   - maximumWidth: The maximum width of a line. The widest columns are truncated to fit.
    ///   - style: The terminal whose style applies to headings and rules.
    func lines(maximumWidth: Int? = nil, style: Terminal = .plain) -> [String] {
        guard !headings.isEmpty else { return [] }
        var layout = Layout()
        for heading in headings { layout.addColumn(heading) }
        for row in rows { layout.measure(row) }
        layout.fit(maximumWidth)
        return layout.head(style: style) + rows.map { layout.line($0) }
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

    /// The text on one line, with what a terminal obeys or does not show escaped.
    static func printable(_ text: String) -> String {
        HarmlessText.escaped(text) { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            default: nil
            }
        }
    }
}

extension Terminal {
    /// Output that is not a terminal, without style.
    static let plain = Terminal(isInteractive: false, width: nil, allowsStyle: false)
}

// MARK: - Layout

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

// MARK: - DisplayWidth

/// The width of text in terminal columns: two for East Asian wide characters and emoji, none for combining marks, one
/// for all other characters.
enum DisplayWidth {
    /// The width of a text.
    static func of(_ text: some StringProtocol) -> Int {
        // The width of ASCII text is the number of its bytes, and that of Latin text the number of its letters.
        if isPrintableASCII(text) { return text.utf8.count }
        if text.unicodeScalars.allSatisfy({ isLatin($0.value) }) { return text.unicodeScalars.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// Whether a text has only ASCII characters that are no controls.
    static func isPrintableASCII(_ text: some StringProtocol) -> Bool {
        let isPrintable = text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes where byte < 0x20 || byte > 0x7E { return false }
            return true
        }
        return isPrintable ?? text.utf8.allSatisfy { $0 >= 0x20 && $0 <= 0x7E }
    }

    /// Whether a character of width 1 does not combine with others: ASCII and Latin letters and signs without controls
    /// and the soft hyphen.
    private static func isLatin(_ value: UInt32) -> Bool {
        (0x20...0x7E).contains(value) || (0xA0..<0x300).contains(value) && value != 0xAD
    }

    /// The width of one character with its combining marks.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        // U+FE0F selects the emoji form of the scalar before it, which is wide.
        if scalars.count > 1, scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        // Two regional indicators form a flag.
        if scalars.count == 2, scalars.allSatisfy({ (0x1F1E6...0x1F1FF).contains($0.value) }) { return 2 }
        // The first scalar determines the width because the others combine with it. Spacing marks of Indic scripts
        // take an additional column in most terminals.
        var width = 0
        for (index, scalar) in scalars.enumerated() {
            let own = of(scalar)
            if index == 0 {
                width = own
            } else if scalar.properties.generalCategory == .spacingMark {
                width += own
            }
        }
        return width
    }

    /// The width of one scalar.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator,
            .paragraphSeparator:
            return 0
        default:
            return isWide(scalar.value) ? 2 : 1
        }
    }

    /// Whether Unicode's EastAsianWidth property of the scalar is wide or fullwidth.
    private static func isWide(_ value: UInt32) -> Bool {
        if value < 0x1100 { return false }
        var low = 0
        var high = wideRanges.count
        while low < high {
            let middle = (low + high) / 2
            if wideRanges[middle].upperBound < value {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < wideRanges.count && wideRanges[low].contains(value)
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
        0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
        0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
        0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
        0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F004...0x1F004,
        0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F265,
        0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
        0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
        0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D,
        0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596,
        0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
        0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC,
        0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A,
        0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x2FFFD,
        0x30000...0x3FFFD,
    ]
}
