import TansuBSON

/// The search for what a load must not bring into replicated collections, before anything is loaded.
struct LoadCheck {
    private let replicated: Set<BytewiseText>
    /// The collection of the next document.
    private var collection: String

    /// - Parameters:
    ///   - collection: That of plain documents.
    ///   - replicated: The replicated collections of the database.
    init(collection: String?, replicated: Set<BytewiseText>) {
        self.collection = collection ?? ""
        self.replicated = replicated
    }

    /// - Parameter file: The name for messages.
    /// - Throws: `CommandError` for revisions of a collection that has its own already, and for a document that cannot be replicated.
    mutating func run(_ source: any ByteSource, of file: String) throws {
        let reader = DocumentReader(source, maximumLength: 128 << 20)
        while let raw = try reader.next() {
            try Interruption.check()
            // What is no JSON is refused when it is loaded.
            guard raw.problem == nil, let document = try? reader.withText(of: raw, { try parsed($0) }) else { continue }
            do { try check(document) } catch var error as CommandError {
                error.path = "\(file), line \(raw.line)"
                if error.remedy.isEmpty { error.remedy = "nothing was changed" }
                throw error
            }
        }
    }

    /// A line that matters.
    private func parsed(_ text: UnsafeRawBufferPointer) throws -> BSONDocument? {
        let isControl = Self.isControl(text)
        guard isControl || collection == OpenDatabase.replicationStates || replicated.contains(BytewiseText(collection))
        else { return nil }
        return isControl
            ? try BSONDocument(extendedJSON: String(decoding: text, as: UTF8.self)) : try BSONDocument(storedJSON: text)
    }

    private mutating func check(_ document: BSONDocument) throws {
        if let name = document["$collection"]?.documentValue?["name"]?.stringValue {
            collection = name
            for prefix in Self.prefixes {
                if let owner = name.dropping(prefix: prefix) { try rejectRevisions(of: owner) }
            }
        } else if collection == OpenDatabase.replicationStates {
            if let owner = document["_id"]?.stringValue { try rejectRevisions(of: owner) }
        } else if replicated.contains(BytewiseText(collection)) {
            try OpenDatabase.checkReplicable(document, in: collection)
        }
    }

    private func rejectRevisions(of owner: String) throws {
        guard replicated.contains(BytewiseText(owner)) else { return }
        throw CommandError(
            code: "REPLICATED",
            message: "The dump has revisions of the collection \"\(owner)\", which is replicated already",
            remedy:
                "load the dump into a new database, and copy from there with \"tansu replicate\"; nothing was changed",
            status: .invalidInput)
    }

    private static let prefixes = ["tansu.revisions.", "tansu.bodies.", "tansu.local.", "tansu.attachments."]

    /// Whether the first key begins with a dollar sign, which may be written as an escape.
    private static func isControl(_ line: UnsafeRawBufferPointer) -> Bool {
        let key = line.dropFirst().drop { $0.isJSONBlank }
        return key.starts(with: "\"$".utf8) || key.starts(with: "\"\\".utf8)
    }
}
