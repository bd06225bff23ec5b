import TansuBSON

/// A write that the command line and the inspector leave to the library or to the server.
package struct CommandRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the refusal is about.
    package enum Code: String, Sendable {
        /// A collection that is not for this.
        case invalidArgument = "INVALID_ARGUMENT"
        /// The password of an account would be stored as it is.
        case clearPassword = "CLEAR_PASSWORD"
        /// A replicated collection would lose what its revisions are about.
        case replicated = "REPLICATED"
    }

    package let code: Code
    /// A sentence without its full stop.
    package let message: String
    /// The collection or option that it is about, or an empty string.
    package let path: String
    /// What to do instead, in lower case.
    package let remedy: String

    package var description: String { "\(message); \(remedy)" }

    fileprivate init(_ code: Code, _ message: String, path: String = "", remedy: String) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
    }
}

/// What programs that run the commands of others leave to the library and to the server: the collections that the library
/// keeps, the passwords of accounts, which are hashed, and replicated collections, whose documents can be replicated.
package struct CommandLimits: Sendable {
    /// An account with the hash of its password instead of the password; `nil` in a program without the server.
    package let hashed: @Sendable (_ account: BSONDocument, _ password: String) throws -> BSONDocument?
    /// Throws for a document that a replicated collection cannot have.
    package let checkReplicable: @Sendable (_ document: BSONDocument, _ collection: String) throws -> Void

    package init(
        hashed: @escaping @Sendable (BSONDocument, String) throws -> BSONDocument?,
        checkReplicable: @escaping @Sendable (BSONDocument, String) throws -> Void
    ) {
        self.hashed = hashed
        self.checkReplicable = checkReplicable
    }

    /// The collection of the server's accounts.
    package static let accounts = "_users"
    /// The collection with a document for each replicated one.
    package static let replicationStates = "tansu.sync"

    /// Whether the library keeps the collection of a name.
    package static func isOwned(_ name: String) -> Bool { name.hasPrefix("tansu.") }

    /// - Throws: ``CommandRefusal`` for a collection that the library keeps, such as the revisions of a replicated one.
    package static func check(_ name: String) throws {
        guard isOwned(name) else { return }
        throw CommandRefusal(
            .invalidArgument,
            "The collection \"\(name)\" belongs to the library, which alone writes it",
            remedy: "choose another name; names that begin with \"tansu.\" are reserved")
    }

    /// - Throws: ``CommandRefusal`` for a new name of a collection that the library keeps, or of that of the accounts, whose
    ///   documents would have passwords as they are.
    package static func check(newName name: String) throws {
        try check(name)
        guard name == accounts else { return }
        throw clearPassword("A collection that becomes \"\(name)\" keeps the passwords that it has")
    }

    /// What is stored of a document: of an account with a password, its hash instead of it, as the server does.
    ///
    /// - Throws: ``CommandRefusal`` when the password is no text, or this program has no server.
    package func stored(_ document: BSONDocument, in collection: String) throws -> BSONDocument {
        guard collection == Self.accounts, let password = document["password"], !password.isNull else {
            return document
        }
        guard let text = password.stringValue else { throw Self.clearPassword("The password of an account is text") }
        guard let hashed = try hashed(document, text) else {
            throw Self.clearPassword("This program cannot hash the passwords of accounts")
        }
        return hashed
    }

    /// - Throws: ``CommandRefusal`` for an update that would store a password as it is.
    package static func check(update fields: BSONDocument, in collection: String) throws {
        guard collection == accounts, fields.contains(key: "password") else { return }
        throw clearPassword("An update does not hash the password of an account")
    }

    /// - Throws: ``CommandRefusal`` for an update by a pipeline that may store a password: a member of that name which is no
    ///   flag of `$project`, or a `$setField` of it, wherever it stands.
    package static func check(pipeline: BSONValue, in collection: String) throws {
        guard collection == accounts, mayStorePassword(pipeline) else { return }
        throw clearPassword("An update does not hash the password of an account")
    }

    /// - Throws: ``CommandRefusal`` for operations that would store a password as it is, or fields that no replicated document has.
    package func check(operations: BSONDocument, in collection: String, isReplicated: Bool) throws {
        for fields in operations.compactMap({ $0.value.documentValue }) + [operations] {
            try Self.check(update: fields, in: collection)
        }
        try Self.check(pipeline: operations["$pipeline"] ?? .null, in: collection)
        guard isReplicated else { return }
        for (name, fields) in operations {
            guard let fields = fields.documentValue else { continue }
            let isRename = name == "$rename"
            let names =
                isRename ? fields.compactMap { $0.value.stringValue } : name == "$unset" ? [] : fields.keys.map { $0 }
            for name in names where name.prefixUntil(".") != "_id" {
                try checkReplicable([name.prefixUntil("."): 0], collection)
            }
        }
    }

    /// - Throws: ``CommandRefusal`` for a collection that a pipeline must not write to.
    package static func check(output name: String, of database: Database) throws {
        guard try name == accounts || isReplicated(name, in: database) else { return }
        throw CommandRefusal(
            .invalidArgument,
            "A pipeline cannot write to the collection \"\(name)\", which is replicated or has accounts",
            remedy: "write to another collection, or save the documents with \"tansu save\"")
    }

    /// - Throws: ``CommandRefusal`` for options of a collection by which a collection of the library, or accounts, would be
    ///   written, or would not be writable any more: its change tracking and its references.
    package static func check(options: BSONDocument, of database: Database) throws {
        if let name = options["changeTracking"]?.stringValue {
            try check(name)
            if try name == accounts || isReplicated(name, in: database) {
                throw CommandRefusal(
                    .invalidArgument,
                    "The collection \"\(name)\", which is replicated or has accounts, cannot get changed ids",
                    path: "changeTracking", remedy: "name another collection")
            }
        }
        for reference in options["references"]?.arrayValue ?? [] {
            if let name = reference.documentValue?["to"]?.stringValue { try check(name) }
        }
    }

    /// Whether a collection is replicated.
    package static func isReplicated(_ collection: String, in database: Database) throws -> Bool {
        try database.collection(Self.replicationStates).get(collection) != nil
    }

    private static func mayStorePassword(_ value: BSONValue) -> Bool {
        if let values = value.arrayValue { return values.contains(where: mayStorePassword) }
        guard let fields = value.documentValue else { return false }
        return fields.contains { name, value in
            let isPassword = name == "password" || (name == "field" && namesPassword(value))
            return isPassword && value.boolValue == nil && value.doubleValue == nil
                || name != "$unset" && mayStorePassword(value)
        }
    }

    /// Whether the operand "field" of `$setField` is the password, as text or in `$literal`.
    private static func namesPassword(_ value: BSONValue) -> Bool {
        value.stringValue == "password" || value.documentValue?.first?.value == "password"
    }

    package static func clearPassword(_ message: String) -> CommandRefusal {
        CommandRefusal(
            .clearPassword, message,
            remedy: "save the account with \"tansu save\", or with PUT /_users/ID to \"tansu serve\"")
    }
}

// MARK: - Requests

extension CommandLimits {
    /// The operations that change the database.
    package static let writes = [
        "save", "insert", "update", "findAndModify", "remove", "createIndex", "declareIndex", "dropIndex",
        "createCollection", "setValidator", "dropCollection", "renameCollection",
    ]

    /// Whether a request changes the database.
    package static func isWrite(_ request: BSONDocument) -> Bool {
        guard let operation = request["op"]?.stringValue else { return false }
        return writes.contains { $0 == operation } || !outputs(of: request).isEmpty
            || operation == "danglingReferences" && request["options"]?.documentValue?["repair"] == .bool(true)
    }

    /// The collections that a pipeline writes to.
    private static func outputs(of request: BSONDocument) -> [String] {
        request["pipeline"]?.arrayValue?.compactMap { $0.documentValue?.pipelineTarget } ?? []
    }

    /// The request as it is run: with hashes instead of passwords.
    ///
    /// - Throws: ``CommandRefusal`` for one that is left to others.
    package func allowed(_ request: BSONDocument, on database: Database) throws -> BSONDocument {
        var request = request
        if let commands = request["commands"]?.arrayValue {
            request["commands"] = .array(
                BSONArray(
                    try commands.map { try $0.documentValue.map { .document(try allowed($0, on: database)) } ?? $0 }))
        }
        if request["op"] == "load" {
            throw CommandRefusal(
                .invalidArgument, "The command \"load\" is not run here, as it may load accounts",
                path: "load", remedy: "use \"tansu load\"")
        }
        guard Self.isWrite(request) else { return request }
        if let name = request["to"]?.stringValue { try Self.check(newName: name) }
        if !Self.outputs(of: request).isEmpty {
            for name in Self.outputs(of: request) {
                try Self.check(name)
                try Self.check(output: name, of: database)
            }
            return request
        }
        let collection = request["collection"]?.stringValue
        if let collection { try Self.check(collection) }
        if let options = request["options"]?.documentValue, request["op"] == "createCollection" {
            try Self.check(options: options, of: database)
        }
        if let collection { try checkContent(&request, of: collection, in: database) }
        return request
    }

    private func checkContent(_ request: inout BSONDocument, of name: String, in database: Database) throws {
        let isReplicated = try Self.isReplicated(name, in: database)
        if let documents = request["documents"]?.arrayValue {
            let checked = try documents.map { value -> BSONValue in
                guard let document = value.documentValue else { return value }
                if isReplicated { try checkReplicable(document, name) }
                return .document(try stored(document, in: name))
            }
            if name == Self.accounts { request["documents"] = .array(BSONArray(checked)) }
        }
        if let document = request["replace"]?.documentValue {
            if isReplicated { try checkReplicable(document, name) }
            request["replace"] = .document(try stored(document, in: name))
        }
        if let operations = request["update"]?.documentValue {
            try check(operations: operations, in: name, isReplicated: isReplicated)
        } else if let stages = request["update"] {
            try Self.check(pipeline: stages, in: name)
        }
        if isReplicated, request["hints"]?.documentValue?.contains(key: "$upsert") == true {
            throw CommandRefusal(
                .replicated,
                "What an upsert inserts into the replicated collection \"\(name)\" is not checked here",
                path: name, remedy: "use \"tansu update --upsert\"")
        }
        guard isReplicated, let operation = request["op"]?.stringValue else { return }
        if let done = ["dropCollection": "drop", "renameCollection": "rename"][operation] {
            throw CommandRefusal(
                .replicated, "The collection \"\(name)\" is replicated", path: name,
                remedy: "\(done) it with \"tansu collections \(done)\", with its revisions")
        }
        if request["options"]?.documentValue?.contains(key: "changeTracking") == true {
            throw CommandRefusal(
                .replicated, "The change tracking of the replicated collection \"\(name)\" belongs to the library",
                path: "changeTracking", remedy: "leave it out")
        }
    }
}
