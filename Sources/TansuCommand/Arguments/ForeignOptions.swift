import ArgumentParser

/// The options that name a database of another program, whose collections a command reads.
struct ForeignOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A database of EJDB 1: the file with its name, beside which there is one for each collection.",
            valueName: "file"),
        completion: .file())
    var ejdb: String?

    func validate() throws {
        for (path, name) in [(ejdb, "EJDB database")] {
            guard let path else { continue }
            try checkPath(path, of: name)
            if path == "-" { throw ValidationError("The \(name) cannot be read from standard input") }
        }
    }

    var isGiven: Bool { ejdb != nil }

    /// Opens the database, if one is given.
    /// - Parameter collection: The name of the collection for one table of SQLite.
    /// - Throws: `CommandError` when it cannot be read, or is something else.
    func database(_ collection: String?) throws -> (any ForeignDatabase)? {
        if let ejdb { return try EJDBDatabase(path: ejdb) }
        return nil
    }
}
