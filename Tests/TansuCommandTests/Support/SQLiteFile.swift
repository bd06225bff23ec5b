import Testing

@testable import TansuCommand

/// A database of SQLite that a test writes.
final class SQLiteFile {
    private typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> Int32

    private var handle: OpaquePointer?
    private let library: DynamicLibrary

    static var isInstalled: Bool { (try? library()) != nil }

    private static func library() throws -> DynamicLibrary {
        try DynamicLibrary(["libsqlite3.so.0", "/usr/lib/libsqlite3.dylib"], package: "libsqlite3-0")
    }

    init(_ path: String) throws {
        library = try Self.library()
        let open = try library.symbol(
            "sqlite3_open",
            as: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>) -> Int32).self)
        try #require(open(path, &handle) == 0)
    }

    deinit {
        let close = try? library.symbol("sqlite3_close", as: (@convention(c) (OpaquePointer?) -> Int32).self)
        _ = close?(handle)
    }

    func run(_ sql: String) throws {
        let execute = try library.symbol("sqlite3_exec", as: Execute.self)
        try #require(execute(handle, sql, nil, nil, nil) == 0, "\(sql)")
    }
}
