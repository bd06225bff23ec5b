import ArgumentParser

/// The options for the format of documents that a command reads.
struct InputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "\"json\", \"csv\" or \"tsv\". The default is that of the file's extension, otherwise json, or csv with an "
                + "option for tables.", valueName: "format"))
    var format: InputFormat?

    @Option(
        help: ArgumentHelp(
            "The encoding: \"utf-8\", \"utf-16\", \"utf-16le\", \"utf-16be\", \"iso-8859-1\" or \"windows-1252\". The "
                + "default is UTF-8, or UTF-16 with a byte order mark.", valueName: "encoding"))
    var encoding: TextEncoding?

    @Option(
        help: ArgumentHelp(
            "The character between the values of CSV, or \"tab\". The default is the first of , ; tab | that the header has.",
            valueName: "character"))
    var delimiter: String?

    @Option(
        help: ArgumentHelp(
            "The names of the columns, separated by commas, instead of those in the header.", valueName: "names"))
    var columns: String?

    @Flag(help: "Take the first row of CSV or TSV for data; the columns are column1, column2 … or those of --columns.")
    var noHeader = false

    @Flag(help: "Find other names for columns without a name (column3) and with one that is taken (name_2).")
    var fixHeader = false

    @Flag(help: "Take values of CSV and TSV that are JSON numbers, true, false or null as those, not as text.")
    var inferTypes = false

    @Option(help: ArgumentHelp("The columns with dates, separated by commas.", valueName: "names"))
    var dates: String?

    @Option(
        help: ArgumentHelp(
            "The pattern of the dates, such as \"dd.MM.yyyy HH:mm\". The default is that of ISO 8601, also without a time. "
                + "Dates without a time zone are in UTC.", valueName: "pattern"))
    var dateFormat: String?

    func validate() throws {
        if hasTableOptions || inferTypes, format == .json {
            throw ValidationError("\"--format json\" excludes the options for tables")
        }
        if dateFormat != nil, dates == nil { throw ValidationError("\"--date-format\" needs \"--dates\"") }
        if let dateFormat, let fault = DateParser.fault(of: dateFormat) {
            throw ValidationError("\"--date-format\" \"\(dateFormat)\" is no pattern of dates: \(fault)")
        }
        _ = try separator()
        _ = try table(.csv)
    }

    /// - Throws: `ValidationError` for an option, where there is no file.
    func rejectAny() throws {
        if format != nil || encoding != nil || hasTableOptions || inferTypes {
            throw ValidationError("The options for the format are for files")
        }
    }

    private var hasTableOptions: Bool {
        delimiter != nil || columns != nil || noHeader || fixHeader || dates != nil
    }

    private func separator() throws -> UInt8? {
        guard let delimiter else { return nil }
        if ["tab", "\\t"].contains(delimiter) { return UInt8(ascii: "\t") }
        guard delimiter.utf8.count == 1, let byte = delimiter.utf8.first, byte < 0x80,
            ![.quote, .newline, .carriageReturn, 0].contains(byte)
        else {
            throw ValidationError(
                "\"--delimiter\" must be one ASCII character other than a quote or newline, or \"tab\"")
        }
        return byte
    }

    /// How a table of that format is read, or nil for JSON.
    private func table(_ format: InputFormat) throws -> RowParser? {
        if format == .json { return nil }
        return RowParser(
            TableOptions(
                separator: try separator() ?? (format == .tsv ? UInt8(ascii: "\t") : nil), infersTypes: inferTypes,
                columns: try columns.map { try Self.names($0, of: "--columns") }, hasHeader: !noHeader,
                fixesHeader: fixHeader, dates: try dates.map { try Self.names($0, of: "--dates") } ?? [],
                dateFormat: dateFormat))
    }

    /// The names of a list that is a row of CSV.
    private static func names(_ text: String, of option: String) throws -> [String] {
        do {
            return try Array(text.utf8).withUnsafeBytes { bytes in
                try RowParser(TableOptions(separator: UInt8(ascii: ","))).cells(bytes).map(\.text)
            }
        } catch let error as InvalidDocument {
            throw ValidationError("\"\(option)\" is no row of CSV: \(error.message)")
        }
    }

    /// Opens a file, or standard input for "-".
    /// - Throws: `CommandError` when it cannot be read, or is something else than documents.
    func reader(of path: String) throws -> DocumentReader {
        let byName = InputFormat(file: path)
        let format = format ?? (byName == .json && hasTableOptions ? .csv : byName)
        let table = try table(format)
        if let error = FileKind(folder: path)?.error(for: path, wanted: "a file") { throw error }
        let reader = DocumentReader(try openByteSource(path: path, encoding: encoding), table: table)
        // Standard input may be a terminal, where the first bytes are all that is there.
        guard path != "-" else { return reader }
        let kind = try reader.kind()
        if self.format == nil, table != nil, try reader.hasObjects() {
            throw CommandError.wrongFile(
                path, "is a JSON file, not \(format.rawValue.uppercased())",
                remedy: "import it with \"--format json\"; nothing was changed")
        }
        let isExpected = kind == .json || kind == .other || (kind == .separated && table != nil)
        if !isExpected, let error = kind.error(for: path, wanted: "a file of \(format.rawValue.uppercased())") {
            throw error
        }
        try reader.rejectBinary()
        return reader
    }
}

extension InputFormat: ExpressibleByArgument {}

extension TextEncoding: ExpressibleByArgument {
    /// The encoding of a name, also without hyphens and by its other names.
    init?(argument: String) {
        let other: [String: TextEncoding] = [
            "utf8": .standard, "utf16": .utf16, "utf16le": .utf16LittleEndian, "utf16be": .utf16BigEndian,
            "latin1": .latin1, "latin-1": .latin1, "iso8859-1": .latin1, "cp1252": .windows1252,
            "windows1252": .windows1252,
        ]
        let name = argument.lowercased()
        guard let encoding = TextEncoding(rawValue: name) ?? other[name] else { return nil }
        self = encoding
    }
}
