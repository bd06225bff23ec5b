import TansuBSON

/// Prints documents of the engine's own, such as collections, as a table with these columns.
func printTable(_ documents: [BSONDocument], columns: [String]) throws {
    let writer = OutputWriter()
    var table = TextTable(headings: columns)
    table.rows = documents.map { document in
        columns.map { column in document[column].map(TextTable.Cell.init) ?? TextTable.Cell("") }
    }
    for line in table.lines(maximumWidth: Terminal.output.width, style: .output) {
        try writer.writeLine(line)
    }
    try writer.flush()
}
