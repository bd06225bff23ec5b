#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif
public import Foundation

/// An error of a call to the database.
///
/// For example:
///
/// ```swift
/// do {
///     try await people.insert(person)
/// } catch let error as TansuError where error.code == .exists {
///     print("there already:", error.message)
/// }
/// ```
///
/// A value that cannot be encoded or decoded is not a `TansuError`: it is the `EncodingError` or
/// `DecodingError` that Codable users know. A cancelled task gets a `CancellationError`.
public struct TansuError: Error, Sendable, Hashable {
    /// What kind of error it is; ``Code`` documents the remedy of each.
    public let code: Code

    /// One sentence: what is wrong, and what to do.
    public let message: String

    /// Where: a path, an operator, a file or a name. Empty when there is none.
    public let context: String

    /// The byte of the input or file at fault or, when several documents were saved, the number of the
    /// document at fault, counted from 0. `nil` when it does not apply.
    public let offset: Int64?

    /// The `errno` of the system call that failed, or `nil` when none did.
    public let systemErrno: Int32?

    /// The engine's report of the call that failed, when it made one.
    var report: BSONDocument?

    /// Whether it is about one attachment, so that other documents are as good as before.
    package private(set) var isOfAttachment = false

    /// Makes an error; the library does so, and tests of your own code may.
    ///
    /// - Parameters:
    ///   - code: What kind of error it is.
    ///   - message: One sentence for people.
    ///   - context: Where: a path, an operator, a file or a name.
    ///   - offset: The byte or the document at fault.
    ///   - systemErrno: The `errno` of a failed system call.
    public init(
        _ code: Code, _ message: String, context: String = "", offset: Int64? = nil, systemErrno: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.offset = offset
        self.systemErrno = systemErrno
    }

    /// Makes an error of one attachment.
    package init(attachment code: Code, _ message: String) {
        self.init(code, message)
        isOfAttachment = true
    }
}

extension TansuError: CustomStringConvertible {
    /// The name of the code, the message, and the location.
    public var description: String {
        var text = "\(code): \(message)"
        if !context.isEmpty { text += " [\(context)]" }
        if let offset { text += " at \(offset)" }
        if let systemErrno { text += " (errno \(systemErrno): \(String(cString: strerror(systemErrno))))" }
        return text
    }
}

extension TansuError: LocalizedError {
    /// The same text as ``description``, so that `localizedDescription` says what is wrong.
    public var errorDescription: String? { description }
}

// MARK: - Code

extension TansuError {
    /// The kind of an error, one for one the engine's `tansu_status`.
    ///
    /// The numbers never change; a newer engine may add some.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The engine's number.
        public let rawValue: UInt32

        /// The code with the engine's number.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }
    }
}

extension TansuError.Code: CustomStringConvertible {
    /// The engine's lasting name of the code, such as "NOT_UNIQUE".
    public var description: String {
        String(cString: tansu_status_name(tansu_status(rawValue: rawValue)))
    }
}

extension TansuError.Code {
    /// Out of memory, or the system cannot start another thread; nothing was changed. Work in smaller pieces: a cursor
    /// rather than an array, fewer calls at once.
    public static let memory = Self(TANSU_E_MEMORY)

    /// An argument that is out of its range, such as a negative commit number, a path with a NUL character, or a range that does
    /// not begin inside an attachment.
    public static let invalidArgument = Self(TANSU_E_INVALID_ARGUMENT)

    /// The database is closed or being closed. Open it again, or keep it open longer.
    public static let closed = Self(TANSU_E_CLOSED)

    /// A system call failed; ``TansuError/systemErrno`` has the reason. Check the disk and the permissions.
    public static let io = Self(TANSU_E_IO)

    /// The disk is full; the commit was rolled back. Free disk space and try again.
    public static let full = Self(TANSU_E_FULL)

    /// Another process, which the message names, or another `Database` here has it open. Share one `Database`, open
    /// read-only on both sides, or wait with ``Database/Options/lockTimeout``.
    public static let locked = Self(TANSU_E_LOCKED)

    /// The wait for the write lock, or for a thread to write on, timed out; this task or thread holds the write lock
    /// itself; or open transactions and cursors prevent closing. Inside `write`, use the collections of the transaction;
    /// before `close()`, end cursors.
    public static let busy = Self(TANSU_E_BUSY)

    /// Opened read-only, or a write through a `read` transaction. Use `write`.
    public static let readOnly = Self(TANSU_E_READ_ONLY)

    /// Corruption was detected; the context names file and offset. Restore a backup.
    public static let corrupt = Self(TANSU_E_CORRUPT)

    /// The files are of another format than this library reads. Dump them with the version that wrote them, and load the dump.
    public static let version = Self(TANSU_E_VERSION)

    /// No such database, collection, index, document or attachment: check the name in the context. Or the changes after a resume
    /// token are no longer complete: read everything, and start a new sequence.
    public static let notFound = Self(TANSU_E_NOT_FOUND)

    /// The name or the `_id` exists. Choose another, or `save` to replace.
    public static let exists = Self(TANSU_E_EXISTS)

    /// A unique index already holds this value. Change the value, or replace the document that holds it.
    public static let notUnique = Self(TANSU_E_NOT_UNIQUE)

    /// A name of a collection, index or attachment that is not allowed. Those of collections and indexes are 1 to 120 bytes.
    public static let invalidName = Self(TANSU_E_INVALID_NAME)

    /// Bytes that are not a valid BSON document. Check their source.
    public static let invalidBSON = Self(TANSU_E_INVALID_BSON)

    /// Valid BSON that may not be stored: a duplicate key, one within an `_id` that begins with `$`, or what violates the schema of its
    /// collection; the context is then path and rule, such as `pet.age: minimum`.
    public static let invalidDocument = Self(TANSU_E_INVALID_DOCUMENT)

    /// An `_id` of a kind that cannot be one: an array, a regex or undefined; or nil, which no value has.
    public static let invalidID = Self(TANSU_E_INVALID_ID)

    /// An unknown or malformed operator, hint, path or operand; the context names it.
    public static let invalidQuery = Self(TANSU_E_INVALID_QUERY)

    /// An invalid index definition. Check its paths and options.
    public static let invalidIndex = Self(TANSU_E_INVALID_INDEX)

    /// Text that is not JSON, or not the extended JSON of BSON; the offset is the byte at fault.
    public static let invalidJSON = Self(TANSU_E_INVALID_JSON)

    /// A JSON command with an unknown or missing member; the context names it.
    public static let invalidCommand = Self(TANSU_E_INVALID_COMMAND)

    /// Over a limit: a document of 16 MiB, a depth of 100, a transaction of 1 GiB. Split it. Or an attachment
    /// with more bytes than were to be read: read it as a stream.
    public static let tooLarge = Self(TANSU_E_TOO_LARGE)

    /// Cancelled by `cancel()`. A cancelled task gets a `CancellationError` instead.
    public static let cancelled = Self(TANSU_E_CANCELLED)

    /// The deadline of the call has passed. Raise the limit, or add an index.
    public static let timeout = Self(TANSU_E_TIMEOUT)

    /// An `fsync` failed, of this commit or an earlier one, and the database is read-only. Check the disk and open it
    /// again.
    public static let syncFailed = Self(TANSU_E_SYNC_FAILED)

    /// Not supported by this version of the library. Update it.
    public static let unsupported = Self(TANSU_E_UNSUPPORTED)

    /// A call that the state of the object forbids. Do not use a transaction, its collections or its cursors after
    /// the transaction ended.
    public static let invalidState = Self(TANSU_E_INVALID_STATE)

    /// Documents refer to what would be removed, by a reference whose delete rule is `deny`; the context is their
    /// collection. Remove or change them first.
    public static let referenced = Self(TANSU_E_REFERENCED)

    /// The folder of the database was moved, removed or replaced while it was open; nothing was written, and the
    /// context is the folder. Close the database and open it where it is now.
    public static let moved = Self(TANSU_E_MOVED)

    /// The database is encrypted, and no key was given. Open it with its key.
    public static let encrypted = Self(TANSU_E_ENCRYPTED)

    /// The database is encrypted with another key than the given one. Nothing is damaged: open it with its key.
    public static let wrongKey = Self(TANSU_E_WRONG_KEY)

    private init(_ status: tansu_status) {
        self.init(rawValue: UInt32(status.rawValue))
    }
}
