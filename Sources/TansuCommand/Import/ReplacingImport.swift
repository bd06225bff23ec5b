import Tansu

/// An import that replaces a collection: the documents go into another collection, which takes the name when all of them
/// are there. The old collection is kept until then.
struct ReplacingImport {
    private let database: Database
    private let collection: String

    /// The name of the collection until the import is complete. An import that was killed leaves it, and the next one
    /// drops it.
    let temporaryName: String

    /// The compression of the collection.
    let compression: Database.CollectionCompression

    /// The fields by which its documents are dated.
    let timestamps: Database.Timestamps?

    /// - Returns: Nil when there is no such collection.
    init?(_ database: Database, of collection: String) throws {
        guard let old = try Session(database).collectionInfo(collection) else { return nil }
        compression = old.compression
        timestamps = old.timestamps
        self.database = database
        self.collection = collection
        let name = collection + ".tansu-part"
        temporaryName = name.utf8.count <= 120 ? name : "import.tansu-part"
        try database.dropCollection(temporaryName)
    }

    /// Runs the import into the temporary collection, and replaces the old one if there was no error.
    /// - Throws: `CommandError` for an error of the import, and for an import without documents. Nothing is changed then.
    func run(_ job: ImportJob, _ reader: DocumentReader) throws {
        do {
            try job.run(reader)
            guard job.imported > 0 else {
                throw CommandError(
                    code: "NO_INPUT", message: "There is no document to import", path: collection,
                    remedy: "collection \"\(collection)\" was not dropped", status: .noInput)
            }
            try database.write { transaction in
                try transaction.replacing(collection) {
                    try transaction.dropCollection(collection)
                    try transaction.renameCollection(temporaryName, to: collection)
                }
            }
        } catch {
            _ = try? database.dropCollection(temporaryName)
            throw error
        }
    }
}
