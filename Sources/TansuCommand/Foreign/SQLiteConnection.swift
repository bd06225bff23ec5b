import Foundation
import TansuBSON

/// The functions of libsqlite3 that an import needs.
private struct SQLiteLibrary {
    typealias Handle = OpaquePointer?
    typealias Text = UnsafePointer<CChar>?

    let open: @convention(c) (Text, UnsafeMutablePointer<OpaquePointer?>, Int32, Text) -> Int32
    let close: @convention(c) (Handle) -> Int32
    let busyTimeout: @convention(c) (Handle, Int32) -> Int32
    let message: @convention(c) (Handle) -> Text
    let prepare:
        @convention(c) (Handle, Text, Int32, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutableRawPointer?) -> Int32
    let step: @convention(c) (Handle) -> Int32
    let finalize: @convention(c) (Handle) -> Int32
    let columnCount: @convention(c) (Handle) -> Int32
    let type: @convention(c) (Handle, Int32) -> Int32
    let integer: @convention(c) (Handle, Int32) -> Int64
    let real: @convention(c) (Handle, Int32) -> Double
    let text: @convention(c) (Handle, Int32) -> UnsafePointer<UInt8>?
    let blob: @convention(c) (Handle, Int32) -> UnsafeRawPointer?
    let size: @convention(c) (Handle, Int32) -> Int32

    init() throws {
        #if canImport(Darwin)
        let library = try DynamicLibrary(["/usr/lib/libsqlite3.dylib", "libsqlite3.dylib"], package: "sqlite")
        #else
        let library = try DynamicLibrary(["libsqlite3.so.0", "libsqlite3.so"], package: "libsqlite3-0")
        #endif
        func function<T>(_ name: String) throws -> T { try library.symbol("sqlite3_\(name)", as: T.self) }
        open = try function("open_v2")
        close = try function("close")
        busyTimeout = try function("busy_timeout")
        message = try function("errmsg")
        prepare = try function("prepare_v2")
        step = try function("step")
        finalize = try function("finalize")
        columnCount = try function("column_count")
        type = try function("column_type")
        integer = try function("column_int64")
        real = try function("column_double")
        text = try function("column_text")
        blob = try function("column_blob")
        size = try function("column_bytes")
    }
}

/// A read-only connection to a file of SQLite, in one read transaction from its beginning to its end.
final class SQLiteConnection {
    let path: String
    private let wait: Duration
    private let library: SQLiteLibrary
    private var handle: OpaquePointer?

    private enum Code {
        static let busy: Int32 = 5
        static let cannotOpen: Int32 = 14
        static let notADatabase: Int32 = 26
        static let row: Int32 = 100
        static let done: Int32 = 101
    }

    /// - Parameter wait: How long to wait while another program writes the database.
    /// - Throws: `CommandError` when the file is no database, or libsqlite3 is not installed.
    init(path: String, wait: Duration) throws {
        (self.path, self.wait) = (path, wait)
        // SQLite would take an empty file for an empty database.
        let file = try FileSource(path: path)
        guard try file.peek(16).starts(with: "SQLite format 3\0".utf8) else {
            throw CommandError.wrongFile(path, "is no SQLite database")
        }
        library = try SQLiteLibrary()
        do {
            try open(isImmutable: false)
        } catch let error as CommandError {
            // A database in WAL mode needs a file beside it, which a read-only folder cannot have. One that is locked is being
            // written: without locks a part of the change would be read.
            guard error.code != Self.lockedCode, Self.isWhole(path) else { throw error }
            try open(isImmutable: true)
        }
    }

    deinit { close() }

    private func close() {
        if let handle { _ = library.close(handle) }
        handle = nil
    }

    /// Whether no file beside the database has a part of it.
    private static func isWhole(_ path: String) -> Bool {
        ["-wal", "-journal"].allSatisfy { suffix in
            var status = stat()
            return stat(path + suffix, &status) != 0 || status.st_size == 0
        }
    }

    private func open(isImmutable: Bool) throws {
        close()
        let (readOnly, uri): (Int32, Int32) = (1, 0x40)
        let allowed = CharacterSet(charactersIn: "/-._~").union(.alphanumerics)
        let absolute = URL(fileURLWithPath: path).path
        guard let quoted = absolute.addingPercentEncoding(withAllowedCharacters: allowed) else {
            throw failure(Code.cannotOpen)
        }
        let status = library.open(
            "file:\(quoted)?mode=ro" + (isImmutable ? "&immutable=1" : ""), &handle, readOnly | uri, nil)
        guard status == 0 else { throw failure(status) }
        _ = library.busyTimeout(handle, Int32(clamping: Int(wait / .milliseconds(1))))
        // The file may come from anybody.
        for setting in ["trusted_schema = OFF", "cell_size_check = ON"] { _ = try rows("PRAGMA \(setting)") }
        // A transaction of SQLite begins with its first read.
        _ = try rows("BEGIN")
        _ = try rows("SELECT count(*) FROM sqlite_master")
    }

    private static let lockedCode = "LOCKED"

    private func failure(_ status: Int32) -> CommandError {
        let reason = library.message(handle).map { String(cString: $0) } ?? "error \(status)"
        return switch status {
        case Code.notADatabase:
            .wrongFile(
                path, "is no SQLite database: \(reason)", remedy: "an encrypted one must be decrypted first")
        case Code.busy:
            CommandError(
                code: Self.lockedCode, message: "\"\(path)\" is being written by another program: \(reason)",
                path: path, remedy: "try again when that is done")
        default:
            CommandError(
                code: "SQLITE", message: "Cannot read \"\(path)\": SQLite says: \(reason)", path: path,
                status: .invalidInput)
        }
    }

    /// Prepares a statement.
    func statement(_ sql: String) throws -> SQLiteStatement {
        var statement: OpaquePointer?
        let status = library.prepare(handle, sql, -1, &statement, nil)
        guard status == 0, let statement else { throw failure(status) }
        return SQLiteStatement(self, statement)
    }

    /// The rows of a short result.
    func rows(_ sql: String) throws -> [[SQLiteValue]] {
        let statement = try statement(sql)
        var rows: [[SQLiteValue]] = []
        while let row = try statement.next() { rows.append(row) }
        return rows
    }

    /// An identifier in quotes.
    static func quoted(_ name: String) -> String {
        "\"" + name.parts(separatedBy: "\"").joined(separator: "\"\"") + "\""
    }

    fileprivate func finalize(_ statement: OpaquePointer) { _ = library.finalize(statement) }

    /// The next row of a statement, or nil at its end.
    fileprivate func next(_ statement: OpaquePointer) throws -> [SQLiteValue]? {
        switch library.step(statement) {
        case Code.row: return (0..<library.columnCount(statement)).map { value(statement, $0) }
        case Code.done: return nil
        case let status: throw failure(status)
        }
    }

    private func value(_ statement: OpaquePointer, _ column: Int32) -> SQLiteValue {
        switch library.type(statement, column) {
        case 1: return .integer(library.integer(statement, column))
        case 2: return .real(library.real(statement, column))
        case 3:
            // The conversion to UTF-8 precedes the question for the size.
            let text = library.text(statement, column)
            let count = Int(library.size(statement, column))
            guard count <= SQLiteValue.maximumSize else { return .tooLarge }
            return .text(Array(UnsafeBufferPointer(start: text, count: text == nil ? 0 : count)))
        case 4:
            let blob = library.blob(statement, column)
            let count = Int(library.size(statement, column))
            guard count <= SQLiteValue.maximumSize else { return .tooLarge }
            return .blob(Array(UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count)))
        default: return .null
        }
    }
}

/// A statement whose rows are read one after another.
final class SQLiteStatement {
    private let connection: SQLiteConnection
    private let handle: OpaquePointer

    fileprivate init(_ connection: SQLiteConnection, _ handle: OpaquePointer) {
        (self.connection, self.handle) = (connection, handle)
    }

    deinit { connection.finalize(handle) }

    /// The next row, or nil at the end.
    func next() throws -> [SQLiteValue]? { try connection.next(handle) }
}

/// A value of SQLite. Text is UTF-8, unless the program that wrote it made a mistake.
enum SQLiteValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
    /// A text or blob that is longer than any document.
    case tooLarge

    static let maximumSize = 16 << 20

    var string: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    var int: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }
}
