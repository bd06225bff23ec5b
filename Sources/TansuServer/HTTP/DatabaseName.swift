#if TansuServer
    import TansuBSON

    /// The names that a client may give to a new database. Collections that an app has made may have others, and are served too.
    package enum DatabaseName {
        /// The name of a collection has 120 bytes at most, and those of the revisions and attachments of a database are longer
        /// than its own.
        package static let maximumBytes = 102

        /// - Throws: ``HTTPFailure`` with CouchDB's reasons.
        package static func check(_ name: String) throws {
            let bytes = name.utf8
            let isFirst: (UInt8) -> Bool = { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            let isOther: (UInt8) -> Bool = {
                isFirst($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "_$()+/-".utf8.contains($0)
            }
            guard system.contains(name) || (bytes.first.map(isFirst) == true && bytes.allSatisfy(isOther)) else {
                throw HTTPFailure(
                    .badRequest, "illegal_database_name",
                    "Name: '\(name)'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, "
                        + "and / are allowed. Must begin with a letter.")
            }
            guard bytes.count <= maximumBytes else {
                throw HTTPFailure(
                    .badRequest, "database_name_too_long", "At least one path segment of `\(name)` is too long.")
            }
        }

        /// Those that begin with an underscore and are allowed.
        package static let system = ["_users", "_replicator", "_global_changes"]
    }
#endif
