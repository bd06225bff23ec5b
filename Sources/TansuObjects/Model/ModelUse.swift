import Tansu

/// Brings a database to a model, or finds that they do not fit.
struct ModelUse {
    /// The collection in which the model is recorded.
    static let collection = "tansu.model"
    private static let id = BSONValue("model")

    private let database: Database
    private let model: Model

    init(_ database: Database, _ model: Model) {
        self.database = database
        self.model = model
    }

    func run(cancelledBy flag: CancellationFlag?) throws {
        let registry = ModelRegistry.of(database)
        for entity in model.entities where entity.timestamps != nil && entity.coding.date.shiftsDates {
            throw TansuError(
                .invalidArgument,
                "The coding strategy of \"\(entity.typeName)\" stores dates as other dates, for which its timestamps would be"
                    + " taken; store them as text or numbers, or leave out timestamps()", context: entity.collection)
        }
        if let current = registry.model {
            guard current.version == model.version, current.signature == model.signature else {
                throw TansuError(
                    .invalidState,
                    "The database is used with another model; make one model of both, or open the database once more",
                    context: "version \(current.version)")
            }
            return
        }
        if try database.read({ try !changes(in: $0).isEmpty }) {
            do {
                // Decided again in the transaction: another process or thread may have been first.
                try database.writeInCall(cancelledBy: flag) { transaction in
                    for change in try changes(in: transaction) { try apply(change, in: transaction) }
                }
            } catch let error as TansuError where error.code == .readOnly {
                // It is used as it is.
            }
        }
        for entity in model.entities { try entity.ensureIndexes(database) }
        let codings = model.entities.map { (BytewiseText($0.collection), $0.coding) }
        ReferenceTargets.of(database).set(
            try database.read { try targets(in: $0) }, codings: Dictionary(uniqueKeysWithValues: codings))
        registry.set(model)
    }

    /// What has to be done in the database.
    private enum Change {
        case create(collection: String)
        case check(Database.CollectionReference, collection: String)
        case refer([Database.CollectionReference], collection: String)
        case date(Database.Timestamps?, collection: String)
        case record(BSONDocument)
    }

    private func changes(in transaction: Database.Transaction) throws -> [Change] {
        let recorded = try transaction.collection(Self.collection).get(Self.id)
        if let version = recorded?["version"]?.intValue, version > model.version {
            throw TansuError(
                .version,
                "The database was used with version \(version) of the model, and this is version \(model.version); update the"
                    + " app", context: "version \(version)")
        }
        let existing = Dictionary(
            uniqueKeysWithValues: try transaction.collections().map { (BytewiseText($0.name), $0) })
        let known = Set(recorded?["entities"]?.arrayValue ?? [])
        var changes: [Change] = []
        var entries: [BSONValue] = []
        for entity in model.entities {
            let references = try entity.storedReferences(transaction)
            let stored = existing[BytewiseText(entity.collection)]
            if stored == nil { changes.append(.create(collection: entity.collection)) }
            let entry = Self.entry(entity, references)
            if !known.contains(entry) {
                changes += references.map { .check($0, collection: entity.collection) }
            }
            // Also when a program without the model has changed them.
            if stored?.references ?? [] != references {
                changes.append(.refer(references, collection: entity.collection))
            }
            if stored?.timestamps != entity.timestamps {
                changes.append(.date(entity.timestamps, collection: entity.collection))
            }
            entries.append(entry)
        }
        let record: BSONDocument = [
            "_id": Self.id, "version": BSONValue(model.version), "entities": BSONValue(entries),
        ]
        if record != recorded { changes.append(.record(record)) }
        return changes
    }

    /// For each collection, the collection to which each path refers.
    private func targets(in transaction: Database.Transaction) throws -> [BytewiseText: [BytewiseText: String]] {
        var targets: [BytewiseText: [BytewiseText: String]] = [:]
        for entity in model.entities {
            for reference in try entity.storedReferences(transaction) {
                targets[BytewiseText(entity.collection), default: [:]][BytewiseText(reference.path)] =
                    reference.collection
            }
        }
        return targets
    }

    private static func entry(_ entity: AnyEntity, _ references: [Database.CollectionReference]) -> BSONValue {
        [
            "collection": .string(entity.collection), "type": .string(entity.typeName),
            "references": BSONValue(
                references.map { ["path": .string($0.path), "to": .string($0.collection)] }),
        ]
    }

    private func apply(_ change: Change, in transaction: Database.Transaction) throws {
        switch change {
        case .create(let collection):
            try transaction.ensureCollection(collection)
        case .check(let reference, let collection):
            try check(reference, of: collection, in: transaction)
        case .refer(let references, let collection):
            try transaction.setReferences(references, of: collection)
        case .date(let timestamps, let collection):
            try transaction.setTimestamps(timestamps, of: collection)
        case .record(let record):
            try transaction.collection(Self.collection).save(record)
        }
    }

    /// Throws when a stored value at a reference can be no id.
    private func check(
        _ reference: Database.CollectionReference, of collection: String, in transaction: Database.Transaction
    ) throws {
        // A document may be an _id; one with fields of its own is more likely what the reference replaces.
        let types: BSONDocument = ["$type": ["object", "regex", "undefined"]]
        let query: BSONDocument = [
            "$or": [
                .document([reference.path: .document(types)]),
                .document([reference.path: ["$elemMatch": ["$type": "array"]]]),
            ]
        ]
        guard let document = try transaction.collection(collection).find(query).fields(["_id": 1]).first() else {
            return
        }
        throw TansuError(
            .invalidDocument,
            "The collection \"\(collection)\" has a value that is no id at the reference \"\(reference.path)\"; replace it by"
                + " the _id of a document of \"\(reference.collection)\"",
            context: "_id \(document["_id"] ?? .null)")
    }
}

extension Model {
    /// What makes two models the same.
    fileprivate var signature: [String] {
        entities.flatMap { entity in
            ["\(entity.collection) \(entity.typeName) \(String(describing: entity.timestamps))"]
                + entity.references.map { "\($0.name) \($0.target) \($0.rule)" }
        }
    }
}
