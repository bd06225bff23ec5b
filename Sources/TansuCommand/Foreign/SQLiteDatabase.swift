import Tansu
import TansuBSON

/// A database of SQLite: its tables are collections, and its rows documents. All is read in one transaction.
struct SQLiteDatabase: ForeignDatabase {
    private(set) var collections: [ForeignCollection] = []
    private(set) var faults: [String] = []

    private let connection: SQLiteConnection

    /// - Parameters:
    ///   - tables: The names of tables or views, or none for all tables.
    ///   - collection: The name of the collection if there is one table, or nil for that of the table.
    ///   - wait: How long to wait while another program writes the database.
    /// - Throws: `CommandError` when the file is no database, or a table does not exist.
    init(path: String, tables: [String], collection: String?, wait: Duration = .zero) throws {
        connection = try SQLiteConnection(path: path, wait: wait)
        let known = try connection.rows(
            """
            SELECT name, type, coalesce(sql, '') FROM sqlite_master
            WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name
            """
        ).map { (name: $0[0].string ?? "", isView: $0[1].string == "view", sql: $0[2].string ?? "") }
        // SQLite does not tell names by the case of their ASCII letters.
        let wanted = try tables.map { name in
            guard let found = known.first(where: { $0.name.asciiLowercased == name.asciiLowercased }) else {
                throw CommandError(
                    code: "NOT_FOUND", message: "There is no table \"\(name)\"", path: path,
                    remedy: "there are " + known.map { "\"\($0.name)\"" }.joined(separator: ", "))
            }
            return found.name
        }
        let hidden = try hiddenTables()
        for table in known {
            if wanted.isEmpty {
                if table.isView || hidden.contains(table.name) { continue }
                if table.sql.asciiLowercased.hasPrefix("create virtual") {
                    faults.append("The virtual table \"\(table.name)\" is imported only when \"--table\" names it")
                    continue
                }
            } else if !wanted.contains(table.name) {
                continue
            }
            let name = wanted.count == 1 ? collection ?? table.name : table.name
            let layout: SQLiteTable
            do { layout = try SQLiteTable(connection, table.name, isView: table.isView) } catch let error
                as CommandError where wanted.count != 1
            {
                faults.append("The table \"\(table.name)\" was not imported: \(error.message)")
                continue
            }
            collections.append(
                ForeignCollection(
                    name: name, label: table.name, indexes: layout.indexes, notes: layout.notes,
                    open: { [connection] in try SQLiteRows(connection, layout) }))
        }
    }

    /// The tables in which virtual ones keep their content.
    private func hiddenTables() throws -> [String] {
        // SQLite before 3.37 does not tell.
        let rows = try? connection.rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")
        return rows?.compactMap { $0[0].string } ?? []
    }
}

/// The columns of a table, how they become fields, and its indexes.
struct SQLiteTable {
    struct Column {
        var name: String
        /// The declared type in capital letters.
        var type: String
        var isNullable: Bool
        /// The place in the primary key, from 1 on, or 0.
        var keyPlace: Int64
    }

    let name: String
    private(set) var columns: [Column] = []
    private(set) var indexes: [ForeignIndex] = []
    private(set) var notes: [String] = []
    /// The columns whose value or values are the `_id`; none when it is the row id, or is made by the import.
    private(set) var key: [Int] = []
    /// The name by which the row id can be selected, if it is the `_id`.
    private(set) var rowID: String?

    init(_ connection: SQLiteConnection, _ name: String, isView: Bool) throws {
        self.name = name
        let quoted = SQLiteConnection.quoted(name)
        for row in try connection.rows("PRAGMA table_xinfo(\(quoted))") where row[6].int != 1 {
            columns.append(
                Column(
                    name: row[1].string ?? "", type: Self.uppercased(row[2].string ?? ""),
                    isNullable: row[3].int == 0, keyPlace: row[5].int ?? 0))
        }
        if let id = columns.firstIndex(where: { $0.name == "_id" }) {
            key = [id]
        } else {
            key = columns.indices.filter { columns[$0].keyPlace > 0 }
                .sorted { columns[$0].keyPlace < columns[$1].keyPlace }
        }
        if key.isEmpty, !isView {
            let taken = columns.map(\.name.asciiLowercased)
            rowID = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
            // A view or a virtual table may have none.
            if let rowID, (try? connection.statement("SELECT \(rowID) FROM \(quoted)")) == nil { self.rowID = nil }
        }
        for row in try connection.rows("PRAGMA index_list(\(quoted))").reversed() {
            try addIndex(connection, row)
        }
    }

    /// The text with small ASCII letters as capital ones.
    private static func uppercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
    }

    /// The path of a column's field.
    private func path(_ column: Int) -> String {
        if key == [column] { return "_id" }
        return columns[column].name.parts(separatedBy: ".").joined(separator: "\\.")
    }

    private mutating func addIndex(_ connection: SQLiteConnection, _ row: [SQLiteValue]) throws {
        let name = row[1].string ?? ""
        let (isUnique, isOwn, isPartial) = (row[2].int == 1, row[3].string == "c", row[4].int == 1)
        if isPartial { return notes.append("Index \"\(name)\" has a condition in SQL, and was not created") }
        var keys = BSONDocument()
        var filter = BSONDocument()
        var ignoresCase: [Bool] = []
        for part in try connection.rows("PRAGMA index_xinfo(\(SQLiteConnection.quoted(name)))") where part[5].int == 1 {
            guard let column = columns.firstIndex(where: { $0.name == part[2].string }) else {
                return notes.append("Index \"\(name)\" is of an expression, and was not created")
            }
            keys[path(column)] = .int32(part[3].int == 1 ? -1 : 1)
            // In SQLite nulls are not equal to each other.
            if columns[column].isNullable, columns[column].keyPlace == 0 { filter[path(column)] = ["$ne": .null] }
            ignoresCase.append(part[4].string?.asciiLowercased == "nocase")
        }
        if keys.isEmpty || keys.keys.elementsEqual(["_id"], by: { $0 == $1 }) { return }
        var options = BSONDocument()
        if isUnique {
            options["unique"] = true
            if !filter.isEmpty { options["partialFilter"] = .document(filter) }
        }
        if ignoresCase.allSatisfy({ $0 }) {
            options["caseInsensitive"] = true
        } else if ignoresCase.contains(true) {
            notes.append("Index \"\(name)\" ignores case in some columns only; here it does in none")
        }
        indexes.append(ForeignIndex(name: isOwn ? name : nil, keys: keys, options: options))
    }

    /// The statement that selects the rows: the row id if it is needed, and the columns.
    var selection: String {
        let names = (rowID.map { [$0] } ?? []) + columns.map { SQLiteConnection.quoted($0.name) }
        return "SELECT \(names.joined(separator: ", ")) FROM \(SQLiteConnection.quoted(name))"
    }

    /// The document of a row.
    /// - Throws: `InvalidDocument`, with the fields if only the key is missing.
    func document(_ row: [SQLiteValue]) throws -> BSONDocument {
        let values = rowID == nil ? row[...] : row.dropFirst()
        var fields: [(String, BSONValue)] = []
        for (column, value) in zip(columns, values) {
            fields.append((column.name, try Self.converted(value, column)))
        }
        if rowID != nil, let id = row[0].int {
            fields.insert(("_id", BSONValue(Int(id))), at: 0)
        } else if let column = key.first(where: { fields[$0].1 == .null }) {
            // SQLite does not take nulls for equal, so that there can be several of such rows.
            throw InvalidDocument(
                message: "The key \"\(columns[column].name)\" is null",
                text: BSONDocument(fields.filter { $0.0 != "_id" }).extendedJSONBytes(.canonical))
        } else if key.count == 1, let column = key.first {
            fields.insert(("_id", fields.remove(at: column).1), at: 0)
        } else if !key.isEmpty {
            fields.insert(("_id", .document(BSONDocument(key.map { fields[$0] }))), at: 0)
        }
        return BSONDocument(fields)
    }

    private static func converted(_ value: SQLiteValue, _ column: Column) throws -> BSONValue {
        switch value {
        case .null: return .null
        case .tooLarge: throw InvalidDocument(message: "\"\(column.name)\" is longer than a document can be")
        case .blob(let bytes): return .binary(BSONBinary(bytes))
        case .integer(let number):
            if column.type.utf8.starts(with: "BOOL".utf8), (0...1).contains(number) { return .bool(number == 1) }
            if column.isDate { return date(seconds: number) }
            return BSONValue(Int(number))
        case .real(let number):
            return (column.isDate ? date(julianDay: number) : nil) ?? .double(number)
        case .text(let bytes):
            guard let text = String(utf8: bytes) else {
                throw InvalidDocument(message: "\"\(column.name)\" is not valid UTF-8")
            }
            if column.isDate { return DateParser(format: nil).date(text) ?? .string(text) }
            if column.type == "JSON" { return (try? BSONValue(plainJSON: bytes)) ?? .string(text) }
            return .string(text)
        }
    }

    /// The date of an integer: seconds from 1970 on as in SQLite's functions, or milliseconds when it is as large as those
    /// of today.
    private static func date(seconds: Int64) -> BSONValue {
        if seconds.magnitude >= 100_000_000_000 { return .date(seconds) }
        return .date(seconds * 1000)
    }

    /// The date of a day number as in SQLite's functions, in the years 1 to 9999.
    private static func date(julianDay: Double) -> BSONValue? {
        guard (1_721_425.5..<5_373_484.5).contains(julianDay) else { return nil }
        return .date(Int64(((julianDay - 2_440_587.5) * 86_400_000).rounded()))
    }
}

extension SQLiteTable.Column {
    /// Whether its declared type is one of dates.
    var isDate: Bool { ["DATE", "DATETIME", "TIMESTAMP"].contains { type.hasPrefix($0) } }
}

/// The rows of a table as documents.
final class SQLiteRows: DocumentSource {
    private let statement: SQLiteStatement
    private let table: SQLiteTable
    private var row = 0

    init(_ connection: SQLiteConnection, _ table: SQLiteTable) throws {
        self.table = table
        statement = try connection.statement(table.selection)
    }

    var unit: String { "row" }
    var fraction: Double? { nil }

    func nextDocument() throws -> SourceDocument? {
        guard let values = try statement.next() else { return nil }
        row += 1
        do {
            return SourceDocument(position: row, content: .success(try table.document(values)))
        } catch let error as InvalidDocument {
            return SourceDocument(position: row, content: .failure(error), text: error.text)
        }
    }
}
