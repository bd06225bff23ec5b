import ArgumentParser

/// The options that name a database of another program, whose collections a command reads.
struct ForeignOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A database of EJDB 1: the file with its name, beside which there is one for each collection.",
            valueName: "file"),
        completion: .file())
    var ejdb: String?

    @Option(
        help: ArgumentHelp(
            "A database of SQLite. Rows become documents; their _id is the primary key or the row id.",
            valueName: "file"),
        completion: .file())
    var sqlite: String?

    @Option(
        help: ArgumentHelp(
            "A table or view of the SQLite database. It can be repeated. The default is all tables.",
            valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "What mongodump wrote: the folder of a database, a file NAME.bson, or an archive.", valueName: "path"),
        completion: .directory)
    var mongodump: String?

    func validate() throws {
        for (path, name) in [(ejdb, "EJDB database"), (sqlite, "SQLite database"), (mongodump, "dump")] {
            guard let path else { continue }
            try checkPath(path, of: name)
            if path == "-" { throw ValidationError("The \(name) cannot be read from standard input") }
        }
        if [ejdb, sqlite, mongodump].compactMap({ $0 }).count > 1 {
            throw ValidationError("\"--ejdb\", \"--sqlite\" and \"--mongodump\" exclude each other")
        }
        if !table.isEmpty, sqlite == nil { throw ValidationError("\"--table\" needs \"--sqlite\"") }
    }

    var isGiven: Bool { ejdb != nil || sqlite != nil || mongodump != nil }

    /// Opens the database, if one is given.
    /// - Parameters:
    ///   - collection: The name of the collection for one table of SQLite.
    ///   - wait: How long to wait while another program writes it.
    /// - Throws: `CommandError` when it cannot be read, or is something else.
    func database(_ collection: String?, wait: Duration) throws -> (any ForeignDatabase)? {
        if let ejdb { return try EJDBDatabase(path: ejdb) }
        if let sqlite { return try SQLiteDatabase(path: sqlite, tables: table, collection: collection, wait: wait) }
        if let mongodump { return try MongoDump(path: mongodump) }
        return nil
    }
}
