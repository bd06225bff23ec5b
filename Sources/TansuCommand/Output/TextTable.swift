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

    /// The text with control characters and characters that change the text direction escaped.
    static func printable(_ text: String) -> String {
        if DisplayWidth.isPrintableASCII(text) { return text }
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
