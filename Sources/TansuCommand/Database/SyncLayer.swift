#if TansuSync
import Tansu
import TansuBSON
import TansuSync

/// What commands ask the replication of collections.
enum SyncLayer {
    /// Drops a replicated collection, and its revisions.
    ///
    /// - Returns: False when it is not replicated; then nothing is dropped.
    static func drop(_ collection: String, in database: Database) throws -> Bool {
        guard let replicated = try? ReplicatedCollection.open(collection, in: database, create: false) else {
            return false
        }
        try replicated.drop()
        return true
    }

    /// - Throws: `CommandError` for a document that a replicated collection cannot have.
    static func check(_ document: BSONDocument, in collection: String) throws {
        do { try ReplicatedCollection.validate(document, in: collection) } catch { throw CommandError(error) }
    }

    /// Why a collection is not replicated, or not with that document; nil for other errors.
    static func commandError(_ error: any Error) -> CommandError? {
        guard let error = error as? SyncError else { return nil }
        let (code, status): (String, CommandExitCode) =
            switch error.code {
            case .unreachable: ("UNREACHABLE", .temporary)
            case .unauthorized: ("UNAUTHORIZED", .noPermission)
            case .forbidden: ("FORBIDDEN", .noPermission)
            case .noSuchDatabase: ("NOT_FOUND", .noInput)
            case .invalidURL: ("INVALID_URL", .usage)
            case .invalidOptions: ("INVALID_OPTIONS", .usage)
            case .invalidAnswer: ("INVALID_ANSWER", .invalidInput)
            case .corrupt: ("CORRUPT", .corrupt)
            case .notReplicated, .unusableID, .reservedField, .refused: ("NOT_REPLICABLE", .invalidInput)
            // Errors of attachments and of remote collections, which no command should meet.
            default: ("INTERNAL", .software)
            }
        // Swift's name of an option says nothing here.
        let message = error.description.replacing(
            "trustedCertificates, or --trusted-certificates of tansu", with: "--trusted-certificates")
        return CommandError(code: code, message: message, status: status)
    }
}
#else
import Tansu
import TansuBSON

/// A program without replication: its collections are ordinary ones.
enum SyncLayer {
    static func drop(_ collection: String, in database: Database) throws -> Bool { false }
    static func check(_ document: BSONDocument, in collection: String) throws {}
    static func commandError(_ error: any Error) -> CommandError? { nil }
}
#endif
