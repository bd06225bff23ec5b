import ArgumentParser

/// The options for the format of documents that a command reads.
struct InputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "\"json\", \"csv\" or \"tsv\". The default is that of the file's extension, otherwise json.",
            valueName: "format"))
    var format: InputFormat?
    @Flag(help: "Take values of CSV and TSV that are JSON numbers, true, false or null as those, not as text.")
    var inferTypes = false

    /// Opens a file, or standard input for "-".
    /// - Throws: `CommandError` when it cannot be read, or is something else than documents.
    func reader(of path: String) throws -> DocumentReader {
        let format = format ?? InputFormat(file: path)
        let table = format.separator.map { RowParser(separator: $0, infersTypes: inferTypes) }
        if let error = FileKind(folder: path)?.error(for: path, wanted: "a file") { throw error }
        let reader = DocumentReader(try openByteSource(path: path), table: table)
        // Standard input may be a terminal, where the first bytes are all that is there.
        guard path != "-" else { return reader }
        let kind = try reader.kind()
        let isExpected = kind == .json || kind == .other || (kind == .separated && table != nil)
        if !isExpected, let error = kind.error(for: path, wanted: "a file of \(format.rawValue.uppercased())") {
            throw error
        }
        return reader
    }
}

extension InputFormat: ExpressibleByArgument {}
