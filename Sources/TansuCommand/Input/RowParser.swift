import Foundation
import TansuBSON

/// How a table is read.
struct TableOptions: Equatable {
    /// The byte between the values of a row, or nil to take it from the header.
    var separator: UInt8?
    /// Whether values without quotes are numbers, `true`, `false` or `null` where they can be.
    var infersTypes = false
    /// The names of the columns, instead of those of the header.
    var columns: [String]?
    /// Whether the first row has the names of the columns.
    var hasHeader = true
    /// Whether empty names and repeated ones are replaced by others.
    var fixesHeader = false
    /// The names of the columns that have dates.
    var dates: [String] = []
    /// The pattern of the dates (Unicode TR 35), or nil for those of ISO 8601.
    var dateFormat: String?
}

/// The conversion of the rows of a table to documents (RFC 4180). A header with dots, such as `address.city`, makes a
/// field of a nested document.
///
/// A value is text. With `infersTypes` a value without quotes that is a JSON number, `true`, `false` or `null` is that
/// value. An empty value without quotes is no field.
struct RowParser {
    /// The fields of a document.
    private struct Fields {
        private(set) var list: [(name: String, field: Field)] = []
        /// The index of each name. Swift takes names of the same look for equal, so their bytes are compared.
        private var places: [[UInt8]: Int] = [:]

        /// - Returns: False when there is a field at the path already, or one where the path needs a document.
        mutating func insert(_ column: Int, at path: ArraySlice<Substring.UTF8View>) -> Bool {
            guard let name = path.first else { return false }
            let rest = path.dropFirst()
            let key = Array(name)
            guard let place = places[key] else {
                var inner = Fields()
                if !rest.isEmpty { _ = inner.insert(column, at: rest) }
                places[key] = list.count
                list.append((String(Substring(name)), rest.isEmpty ? .column(column) : .document(inner)))
                return true
            }
            guard !rest.isEmpty, case .document(var inner) = list[place].field else { return false }
            // Otherwise the list would share the memory of `inner`, which would be copied.
            list[place].field = .column(column)
            defer { list[place].field = .document(inner) }
            return inner.insert(column, at: rest)
        }
    }

    private indirect enum Field {
        case column(Int)
        case document(Fields)
    }

    private(set) var options: TableOptions
    private var fields = Fields()
    private var columnCount = 0
    private var dateColumns: Set<Int> = []
    private let dateParser: DateParser

    init(_ options: TableOptions) {
        self.options = options
        dateParser = DateParser(format: options.dateFormat)
    }

    // MARK: The header

    /// The byte between values.
    var separator: UInt8 { options.separator ?? UInt8(ascii: ",") }

    /// The bytes that separate values, in the order of preference when the header has several.
    static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    /// Takes the separator from the first row, unless it is known: the first of `separators` that is there outside of
    /// quotes.
    mutating func setSeparator(ofHeader bytes: UnsafeRawBufferPointer) {
        guard options.separator == nil else { return }
        var isQuoted = false
        var found: Set<UInt8> = []
        for byte in bytes {
            if byte == .quote { isQuoted.toggle() } else if !isQuoted { found.insert(byte) }
        }
        options.separator = Self.separators.first { found.contains($0) } ?? separator
    }

    /// The separator that a row names in the way of Excel: `sep=;`.
    static func namedSeparator(_ bytes: UnsafeRawBufferPointer) -> UInt8? {
        let unquoted = bytes.filter { $0 != .quote }
        return unquoted.count == 5 && unquoted.starts(with: "sep=".utf8) ? unquoted[4] : nil
    }

    /// Takes the separator that the file names, unless it is known.
    mutating func setSeparator(_ separator: UInt8) { options.separator = options.separator ?? separator }

    /// Takes the names of the columns from the first row, or from the options.
    mutating func setHeader(_ bytes: UnsafeRawBufferPointer) throws {
        let cells = try cells(bytes).map { $0.text }
        columnCount = cells.count
        var names = options.columns ?? (options.hasHeader ? cells : cells.map { _ in "" })
        guard names.count == columnCount else {
            throw InvalidDocument(
                message: "The first row has \(NumberFormat.count(columnCount, "value")), and \"--columns\" has "
                    + NumberFormat.count(names.count, "name"))
        }
        let fixes = options.fixesHeader || !options.hasHeader && options.columns == nil
        var numbers: [[UInt8]: Int] = [:]
        for (column, name) in names.enumerated() {
            if insert(column, name) { continue }
            guard fixes else { throw Self.invalid(name, column) }
            names[column] = insertDistinct(column, name, &numbers)
        }
        try setDates(names)
    }

    private mutating func insert(_ column: Int, _ name: String) -> Bool {
        let path = name[...].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return path.allSatisfy { !$0.isEmpty && $0.first != Self.dollar } && fields.insert(column, at: path[...])
    }

    /// What names of operators begin with, and no name of a field.
    private static let dollar = UInt8(ascii: "$")

    /// Inserts a column under another name: `column2` when it has none, or else `name_2`.
    private mutating func insertDistinct(_ column: Int, _ name: String, _ numbers: inout [[UInt8]: Int]) -> String {
        let words = name.utf8.split(separator: UInt8(ascii: ".")).map { $0.drop { $0 == Self.dollar } }
        let known = words.filter { !$0.isEmpty }.map { String(Substring($0)) }.joined(separator: "_")
        let plain = known.isEmpty ? "column\(column + 1)" : known
        var result = plain
        while !insert(column, result) {
            let number = numbers[Array(plain.utf8), default: 1] + 1
            numbers[Array(plain.utf8)] = number
            result = "\(plain)_\(number)"
        }
        return result
    }

    private static func invalid(_ name: String, _ column: Int) -> InvalidDocument {
        let words = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let fault =
            if name.isEmpty {
                "Column \(column + 1) of the header has no name"
            } else if words.contains(where: { $0.isEmpty }) {
                "Column \(column + 1) of the header, \"\(name)\", has an empty name before or after a dot"
            } else if words.contains(where: { $0.first == dollar }) {
                "Column \(column + 1) of the header, \"\(name)\", begins with $, as operators do"
            } else {
                "The header has \"\(name)\" twice, or both as a value and as a document"
            }
        return InvalidDocument(
            message: "\(fault); \"--fix-header\" finds another name, \"--columns\" gives all of them")
    }

    private mutating func setDates(_ names: [String]) throws {
        for date in options.dates {
            guard let column = names.firstIndex(where: { $0.utf8.elementsEqual(date.utf8) }) else {
                throw InvalidDocument(message: "The header has no column \"\(date)\" for \"--dates\"")
            }
            dateColumns.insert(column)
        }
    }

    // MARK: Rows

    /// The document of a row.
    func document(_ bytes: UnsafeRawBufferPointer) throws -> BSONDocument {
        let cells = try cells(bytes)
        guard cells.count == columnCount else {
            throw InvalidDocument(
                message: "The row has \(NumberFormat.count(cells.count, "value")), and the header has \(columnCount)")
        }
        return try document(of: fields, cells)
    }

    private func document(of fields: Fields, _ cells: [Cell]) throws -> BSONDocument {
        BSONDocument(
            try fields.list.compactMap { name, field -> (String, BSONValue)? in
                switch field {
                case .column(let column): return try value(cells[column], column).map { (name, $0) }
                case .document(let inner):
                    let document = try document(of: inner, cells)
                    return document.isEmpty ? nil : (name, .document(document))
                }
            })
    }

    /// A value of a row.
    struct Cell: Equatable {
        var text: String
        var isQuoted = false
    }

    private func value(_ cell: Cell, _ column: Int) throws -> BSONValue? {
        if dateColumns.contains(column) {
            if cell.text.isEmpty { return nil }
            guard let date = dateParser.date(cell.text) else {
                throw InvalidDocument(
                    message: "\"\(cell.text)\" in column \(column + 1) is not a date such as "
                        + (options.dateFormat.map { "\"\($0)\"" } ?? "2012-12-24 or 2012-12-24T12:15:30Z"))
            }
            return date
        }
        if cell.isQuoted { return .string(cell.text) }
        if cell.text.isEmpty { return nil }
        guard options.infersTypes, let first = cell.text.utf8.first else { return .string(cell.text) }
        switch cell.text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            let isNumber = first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            return (isNumber ? Self.number(cell.text) : nil) ?? .string(cell.text)
        }
    }

    /// The number of a text in JSON. Nil when it is no number, or one that no type has with all its digits: of integers up to 34
    /// fit a decimal.
    private static func number(_ text: String) -> BSONValue? {
        guard let number = try? BSONValue(extendedJSON: text) else { return nil }
        let isInteger = text.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }
        // An integer has no minus zero.
        if isInteger, text.utf8.elementsEqual("-0".utf8) { return nil }
        guard case .double(let value) = number else { return number }
        if !isInteger {
            guard hasDigits(of: text, value) else { return nil }
            return number
        }
        let digits = text.utf8.count - (text.utf8.first == UInt8(ascii: "-") ? 1 : 0)
        return digits > 34 ? nil : Decimal128(text).map { .decimal128($0) }
    }

    /// Whether a double, written with as many digits as a text has, is the number of that text.
    private static func hasDigits(of text: String, _ value: Double) -> Bool {
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { (0x30...0x39).contains($0) }
        var digits = Array(mantissa.drop { $0 == UInt8(ascii: "0") })
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else { return value == 0 }
        if digits.count <= 15, value.isNormal { return true }
        let written = String(format: "%.\(digits.count - 1)e", value)
        return written.utf8.prefix { $0 != UInt8(ascii: "e") }.filter { (0x30...0x39).contains($0) } == digits
    }

    /// The values of a row.
    func cells(_ bytes: UnsafeRawBufferPointer) throws -> [Cell] {
        var cells: [Cell] = []
        var index = 0
        while true {
            let (cell, end) = try cell(bytes, from: index)
            cells.append(cell)
            if end == bytes.count { return cells }
            index = end + 1
        }
    }

    /// The value that begins at an index, and the index of its end.
    private func cell(_ bytes: UnsafeRawBufferPointer, from start: Int) throws -> (Cell, end: Int) {
        guard start < bytes.count, bytes[start] == .quote else {
            let end = bytes[start...].firstIndex(of: separator) ?? bytes.count
            return (Cell(text: try RowParser.text(bytes[start..<end])), end)
        }
        var text: [UInt8] = []
        var index = start + 1
        while index < bytes.count {
            if bytes[index] != .quote {
                text.append(bytes[index])
                index += 1
            } else if index + 1 < bytes.count, bytes[index + 1] == .quote {
                text.append(.quote)
                index += 2
            } else {
                let end = index + 1
                guard end == bytes.count || bytes[end] == separator else {
                    throw InvalidDocument(
                        message: "There is text after the quoted value at byte \(start + 1) of the row; "
                            + "double the quotes inside a value")
                }
                return (Cell(text: try RowParser.text(text), isQuoted: true), end)
            }
        }
        throw InvalidDocument(message: "The quoted value at byte \(start + 1) of the row does not end")
    }

    private static func text(_ bytes: some Collection<UInt8>) throws -> String {
        guard let text = String(utf8: bytes) else {
            throw InvalidDocument(
                message: "The row is not valid UTF-8; name the encoding of the file with \"--encoding\"")
        }
        return text
    }
}

// MARK: - DocumentReader: rows

/// A scanner that finds the end of a row. A newline in quotes is part of a value.
private struct RowScanner {
    /// The byte between values, or nil when any of `RowParser.separators` may be it.
    let separator: UInt8?
    private var isQuoted = false
    private var isAtStart = true
    private var wasQuote = false

    init(separator: UInt8?) { self.separator = separator }

    /// The offset of the newline or carriage return after the row, or nil when it is not in the window.
    mutating func end(in buffer: InputBuffer, from offset: Int) -> Int? {
        buffer.withBytes(offset..<buffer.count) { bytes in
            for (index, byte) in bytes.enumerated() where ends(at: byte) { return offset + index }
            return nil
        }
    }

    private mutating func ends(at byte: UInt8) -> Bool {
        if byte == .quote, isQuoted || isAtStart || wasQuote {
            // The second of two quotes continues the value.
            (isQuoted, wasQuote, isAtStart) = (!isQuoted, isQuoted, false)
            return false
        }
        if isQuoted { return false }
        (wasQuote, isAtStart) = (false, separator.map { $0 == byte } ?? RowParser.separators.contains(byte))
        return byte == .newline || byte == .carriageReturn
    }
}

extension DocumentReader {
    /// Reads the first row.
    /// - Throws: `CommandError` when it is no header.
    func readHeader() throws {
        guard var parser = table, var raw = try nextRow() else { return }
        do {
            if let separator = try text(of: raw, RowParser.namedSeparator) {
                parser.setSeparator(separator)
                table = parser
                guard let next = try nextRow() else { return }
                raw = next
            }
            let isKnown = parser.options.separator != nil
            try text(of: raw) {
                parser.setSeparator(ofHeader: $0)
                try parser.setHeader($0)
                if parser.options.hasHeader { header = Array($0) }
            }
            table = parser
            if !isKnown, parser.separator != UInt8(ascii: ",") {
                let character = Character(Unicode.Scalar(parser.separator))
                onGuess(character == "\t" ? "tabs" : "\"\(character)\"")
            }
        } catch let error as InvalidDocument {
            throw CommandError(
                code: "INVALID_HEADER", message: error.message, path: "line \(raw.line)", status: .invalidInput)
        }
        if parser.options.hasHeader {
            discardRow()
        } else {
            firstRow = raw
        }
    }

    private func text<R>(of raw: RawDocument, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        if let problem = raw.problem { throw InvalidDocument(message: problem) }
        return try withText(of: raw, body)
    }

    private func discardRow() {
        buffer.discard(pending)
        pending = 0
    }

    /// The next row that is not blank. It ends with a newline, a carriage return, or both in either order.
    func nextRow() throws -> RawDocument? {
        if let row = firstRow {
            firstRow = nil
            return row
        }
        while true {
            discardRow()
            if let rowEnd, let next = try byte(at: 0), next == (rowEnd == .newline ? .carriageReturn : .newline) {
                buffer.discard(1)
            }
            rowEnd = nil
            let number = line
            var isTooLong = false
            guard let length = try rowLength(tooLong: &isTooLong) else { return nil }
            pending = min(length + 1, buffer.count)
            rowEnd = length < buffer.count ? buffer[length] : nil
            line += lineBreaks(in: 0..<length) + 1
            if isTooLong {
                return RawDocument(
                    line: number, range: 0..<0, problem: "The row is longer than \(maximumLength) bytes")
            }
            if length > 0, !isMark(0..<length) { return RawDocument(line: number, range: 0..<length) }
        }
    }

    /// The number of bytes up to the end of the row, or nil at the end of the input. The bytes of a row that is too long
    /// are discarded.
    private func rowLength(tooLong: inout Bool) throws -> Int? {
        var scanner = RowScanner(separator: table?.options.separator)
        var scanned = 0
        while true {
            if let end = scanner.end(in: buffer, from: scanned) { return end }
            scanned = buffer.count
            if scanned > maximumLength {
                tooLong = true
                line += lineBreaks(in: 0..<scanned)
                buffer.discard(scanned)
                scanned = 0
            }
            if try !buffer.fill() { return scanned > 0 || tooLong ? scanned : nil }
        }
    }

    /// The number of line ends in quotes.
    private func lineBreaks(in range: Range<Int>) -> Int {
        buffer.withBytes(range) { bytes in
            var count = 0
            for (index, byte) in bytes.enumerated() {
                // A newline and a carriage return next to each other are one.
                if byte == .newline { count += 1 }
                if byte == .carriageReturn, index == 0 || bytes[index - 1] != .newline,
                    index + 1 == bytes.count || bytes[index + 1] != .newline
                {
                    count += 1
                }
            }
            return count
        }
    }
}
