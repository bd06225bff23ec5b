import Tansu
import TansuBSON

/// What the command line leaves to the library and to the server.
enum OwnedCollection {
    /// - Throws: `CommandError` for a collection that the library keeps, such as the revisions of a replicated one.
    static func check(_ name: String) throws {
        guard name.hasPrefix("tansu.") else { return }
        throw CommandError(
            code: "INVALID_ARGUMENT",
            message: "The collection \"\(name)\" belongs to the library, which alone writes it",
            remedy: "choose another name; names that begin with \"tansu.\" are reserved", status: .usage)
    }

    /// - Throws: `CommandError` for an account whose password would be stored as it is.
    static func check(_ fields: BSONDocument, in collection: String) throws {
        guard collection == "_users", fields.contains(key: "password") else { return }
        throw CommandError(
            code: "CLEAR_PASSWORD",
            message: "The collection \"_users\" has no passwords but their hashes, which the server makes",
            remedy: "run \"tansu serve\", and write the account with PUT /_users/ID", status: .invalidInput)
    }

    /// - Throws: `CommandError` for a collection whose revisions are kept under its name.
    static func checkName(of collection: String, in database: Database) throws {
        guard try database.collection("tansu.sync").get(collection) != nil else { return }
        throw CommandError(
            code: "REPLICATED",
            message: "The collection \"\(collection)\" is replicated: its revisions belong to its name",
            remedy: "copy it with \"tansu replicate DB/\(collection) DB/NEW --create\", then drop it",
            status: .invalidInput)
    }
}
