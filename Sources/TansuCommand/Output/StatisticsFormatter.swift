import TansuBSON

/// The formatting of a database's statistics.
enum StatisticsFormatter {
    /// The statistics of the files. Those of the opening by this program, such as its memory, would be taken for
    /// properties of the database.
    static func stored(_ stats: BSONDocument) -> BSONDocument {
        BSONDocument(stats.filter { storedKeys.contains($0.key) }.map { ($0.key, $0.value) })
    }

    private static let storedKeys: Set<String> = [
        "path", "encrypted", "sequence", "checkpointSequence", "collections", "logBytes", "logSegments", "deadBytes",
        "compressedBytes", "compressedFromBytes", "indexFileBytes", "indexesRebuilt", "indexesDamaged",
    ]

    /// The lines of the statistics: labeled values, then a table of the collections and their indexes.
    static func lines(_ stats: BSONDocument, terminal: Terminal) -> [String] {
        var values: [(label: String, value: String)] = []
        for (key, value) in stats where key != "collections" {
            let number = value.int64Value
            let isSize = key.hasSuffix("Bytes")
            let text = number.flatMap { isSize ? NumberFormat.bytes($0) : nil } ?? LabeledValues.text(value)
            values.append((LabeledValues.label(key), text))
        }
        let lines = LabeledValues.lines(values, terminal: terminal)
        let collections = stats.documentList("collections")
        guard !collections.isEmpty else { return lines }
        return lines + [""] + table(collections).lines(maximumWidth: terminal.width, style: terminal)
    }

    private static func table(_ collections: [BSONDocument]) -> TextTable {
        // Most databases have none.
        let isCompressed = collections.contains { $0["compression"] != nil }
        let headings = ["collection", "documents"] + (isCompressed ? ["compression"] : [])
        var table = TextTable(headings: headings + ["index", "entries"])
        for collection in collections {
            var head = [
                TextTable.Cell(collection["name"]?.stringValue ?? ""), number(collection["documents"]),
            ]
            if isCompressed { head.append(TextTable.Cell(collection["compression"]?.stringValue ?? "")) }
            let indexes = collection.documentList("indexes")
            if indexes.isEmpty { table.rows.append(head) }
            for (position, index) in indexes.enumerated() {
                let blank = head.map { _ in TextTable.Cell("") }
                table.rows.append(
                    (position == 0 ? head : blank) + [
                        TextTable.Cell(index["name"]?.stringValue ?? ""), number(index["entries"]),
                    ])
            }
        }
        return table
    }

    /// The lines of what takes the space: a table of the collections and their indexes, and one of the segments.
    static func storage(_ report: BSONDocument, terminal: Terminal) -> [String] {
        var sizes = TextTable(headings: ["collection", "documents", "size", "index", "entries", "about"])
        for collection in report.documentList("collections") {
            var head = [
                TextTable.Cell(collection["name"]?.stringValue ?? ""), number(collection["documents"]),
                size(collection["bytes"]),
            ]
            for index in collection.documentList("indexes") {
                let name = TextTable.Cell(index["name"]?.stringValue ?? "")
                sizes.rows.append(head + [name, number(index["entries"]), size(index["bytes"])])
                head = head.map { _ in TextTable.Cell("") }
            }
        }
        let log = report.documentList("segments")
        // Most databases have none.
        let isCompressed = log.contains { $0["compressedFromBytes"] != nil }
        var segments = TextTable(
            headings: ["segment", "size", "living", "dead"] + (isCompressed ? ["before compression"] : []))
        for segment in log {
            let sizes = ["bytes", "liveBytes", "deadBytes"] + (isCompressed ? ["compressedFromBytes"] : [])
            segments.rows.append([number(segment["segment"])] + sizes.map { size(segment[$0]) })
        }
        let tables = [sizes, segments].filter { !$0.rows.isEmpty }
        return Array(tables.map { $0.lines(maximumWidth: terminal.width, style: terminal) }.joined(separator: [""]))
    }

    private static func size(_ value: BSONValue?) -> TextTable.Cell {
        TextTable.Cell(value?.int64Value.map { NumberFormat.bytes($0) } ?? "", alignment: .right)
    }

    private static func number(_ value: BSONValue?) -> TextTable.Cell {
        TextTable.Cell(value?.int64Value.map { NumberFormat.grouped($0) } ?? "", alignment: .right)
    }
}

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
