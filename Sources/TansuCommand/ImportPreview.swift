import TansuBSON

/// What an import would do: the number of documents, and the types of their fields.
struct ImportPreview {
    /// The most paths whose types are counted.
    private static let pathLimit = 1000
    /// The most bytes of such a path.
    private static let pathLength = 1000

    private(set) var documents = 0
    private(set) var rejected = 0
    private var paths: [BytewiseText] = []
    private var types: [BytewiseText: [(type: String, count: Int)]] = [:]
    private(set) var hasMore = false

    /// Reads all documents of a source.
    /// - Parameters:
    ///   - id: The field that becomes the `_id`.
    ///   - after: The place of the last document that is not counted.
    ///   - onRejection: Called for each document that is none, with their number so far.
    mutating func read(
        _ source: any DocumentSource, id: String?, after: ImportPlace?, progress: ProgressBar,
        onRejection: (ImportJob.RejectedDocument, Int) throws -> Void
    ) throws {
        var number = 0
        var place = ImportPlace.Counter()
        while let next = try source.nextDocument() {
            number += 1
            if number.isMultiple(of: 256) {
                try Interruption.check()
                progress.update(documents: number, fraction: source.fraction)
            }
            place.count(next.position)
            if let after, after.covers(place) { continue }
            var fault: String?
            switch next.content {
            case .success(let document):
                if let id, document["_id"] == nil, document[id] == nil, document[path: id] == nil {
                    fault = "The document has no field \"\(id)\" for its _id"
                } else {
                    documents += 1
                    note(document, "", depth: 0)
                }
            case .failure(let problem): fault = problem.message
            }
            guard let fault else { continue }
            rejected += 1
            try onRejection(
                ImportJob.RejectedDocument(line: next.position, message: fault, text: next.text), rejected)
        }
    }

    /// Counts the types of a document's fields, those of nested documents by their paths.
    private mutating func note(_ document: BSONDocument, _ prefix: String, depth: Int) {
        for (key, value) in document {
            let path = prefix + key
            if case .document(let inner) = value, !inner.isEmpty, depth < 8 {
                note(inner, path + ".", depth: depth + 1)
                continue
            }
            count(value.type.description, at: BytewiseText(path))
        }
    }

    private mutating func count(_ type: String, at path: BytewiseText) {
        if types[path] == nil {
            guard paths.count < Self.pathLimit, path.text.utf8.count <= Self.pathLength else {
                hasMore = true
                return
            }
            paths.append(path)
        }
        if let index = types[path]?.firstIndex(where: { $0.type == type }) {
            types[path]?[index].count += 1
        } else {
            types[path, default: []].append((type, 1))
        }
    }

    /// The types of the fields: a document for each path.
    var fields: [BSONDocument] {
        paths.map { path in
            let counts = (types[path] ?? []).map { ($0.type, BSONValue($0.count)) }
            return ["path": .string(path.text), "types": .document(BSONDocument(counts))]
        }
    }

    /// The types of the fields for a table.
    var rows: [BSONDocument] {
        paths.map { path in
            let counts = types[path] ?? []
            let text =
                counts.count == 1 && counts[0].count == documents
                ? counts[0].type : counts.map { "\($0.type) \(NumberFormat.grouped($0.count))" }.joined(separator: ", ")
            return ["field": .string(path.text), "types": .string(text)]
        }
    }
}
