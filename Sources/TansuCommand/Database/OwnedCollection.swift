import Tansu
import TansuBSON

#if TansuServer
    import TansuServer
#endif

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

    /// The collection of the server's accounts.
    static let accounts = "_users"

    /// What is stored of a document: of an account with a password, its hash instead of it, as the server does.
    ///
    /// - Throws: `CommandError` when the password is no text, or this program has no server.
    static func stored(_ document: BSONDocument, in collection: String) throws -> BSONDocument {
        guard collection == accounts, let password = document["password"], !password.isNull else { return document }
        #if TansuServer
            guard let text = password.stringValue else { throw clearPassword("The password of an account is text") }
            return try PasswordHash(password: text).stored(in: document)
        #else
            throw clearPassword("This program cannot hash the passwords of accounts")
        #endif
    }

    /// - Throws: `CommandError` for an update that would store a password as it is.
    static func check(update fields: BSONDocument, in collection: String) throws {
        guard collection == accounts, fields.contains(key: "password") else { return }
        throw clearPassword("An update does not hash the password of an account")
    }

    static func clearPassword(_ message: String) -> CommandError {
        CommandError(
            code: "CLEAR_PASSWORD", message: message,
            remedy: "save the account with \"tansu save\", or with PUT /_users/ID to \"tansu serve\"",
            status: .invalidInput)
    }
}
