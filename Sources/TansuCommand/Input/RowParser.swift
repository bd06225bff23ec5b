import Foundation
import TansuBSON

/// The conversion of the rows of a table to documents (RFC 4180). A header with dots, such as `address.city`, makes a
/// field of a nested document.
///
/// A value is text. With `infersTypes` a value without quotes that is a JSON number, `true`, `false` or `null` is that
/// value. An empty value without quotes is no field.
struct RowParser {
    /// A field of the documents.
    private indirect enum Field {
        case column(Int)
        case document([(name: String, field: Field)])
    }

    let separator: UInt8
    let infersTypes: Bool
    private var fields: [(name: String, field: Field)] = []
    private var columnCount = 0

    init(separator: UInt8, infersTypes: Bool) {
        self.separator = separator
        self.infersTypes = infersTypes
    }

    /// Takes the names of the fields from the first row.
    mutating func setHeader(_ bytes: UnsafeRawBufferPointer) throws {
        let names = try cells(bytes).map { $0.text }
        columnCount = names.count
        for (column, name) in names.enumerated() {
            let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard path.allSatisfy({ !$0.isEmpty }) else {
                throw InvalidDocument(message: "Column \(column + 1) of the header has no name")
            }
            guard RowParser.insert(.column(column), at: path[...], into: &fields) else {
                throw InvalidDocument(message: "The header has \"\(name)\" twice, or both as a value and as a document")
            }
        }
    }

    /// The document of a row.
    func document(_ bytes: UnsafeRawBufferPointer) throws -> BSONDocument {
        let cells = try cells(bytes)
        guard cells.count == columnCount else {
            throw InvalidDocument(
                message: "The row has \(NumberFormat.count(cells.count, "value")), and the header has \(columnCount)")
        }
        return document(of: fields, cells)
    }

    private func document(of fields: [(name: String, field: Field)], _ cells: [Cell]) -> BSONDocument {
        BSONDocument(
            fields.compactMap { name, field -> (String, BSONValue)? in
                switch field {
                case .column(let column): return value(cells[column]).map { (name, $0) }
                case .document(let inner):
                    let document = document(of: inner, cells)
                    return document.isEmpty ? nil : (name, .document(document))
                }
            })
    }

    /// A value of a row.
    struct Cell: Equatable {
        var text: String
        var isQuoted = false
    }

    private func value(_ cell: Cell) -> BSONValue? {
        if cell.isQuoted { return .string(cell.text) }
        if cell.text.isEmpty { return nil }
        guard infersTypes, let first = cell.text.utf8.first else { return .string(cell.text) }
        switch cell.text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            let isNumber = first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            return (isNumber ? try? BSONValue(extendedJSON: cell.text) : nil) ?? .string(cell.text)
        }
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
        guard let text = String(bytes: bytes, encoding: .utf8) else {
            throw InvalidDocument(message: "The row is not valid UTF-8")
        }
        return text
    }

    /// - Returns: False when there is a field at the path already, or one where the path needs a document.
    private static func insert(
        _ field: Field, at path: ArraySlice<String>, into fields: inout [(name: String, field: Field)]
    ) -> Bool {
        guard let name = path.first else { return false }
        let rest = path.dropFirst()
        guard let index = fields.firstIndex(where: { $0.name == name }) else {
            var inner: [(name: String, field: Field)] = []
            if !rest.isEmpty, !insert(field, at: rest, into: &inner) { return false }
            fields.append((name, rest.isEmpty ? field : .document(inner)))
            return true
        }
        guard case .document(var inner) = fields[index].field, !rest.isEmpty, insert(field, at: rest, into: &inner)
        else { return false }
        fields[index].field = .document(inner)
        return true
    }
}
