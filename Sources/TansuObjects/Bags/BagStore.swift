import Tansu

/// How bags are stored: a document for each bag, `{_id: name}`, and one for each membership,
/// `{bag: name, at: position, in: {key: id}}`. The key stands for the collection: a reference that the membership
/// collection declares leads from `in.key` to it.
struct BagStore {
    static let bags = "tansu.bags"
    static let members = "tansu.bagMembers"

    private let session: Session

    init(_ session: Session) {
        self.session = session
    }

    func bagDocuments() throws -> Database.Collection<BSONDocument> {
        try session.collection(Self.bags, .documents)
    }

    func memberDocuments() throws -> Database.Collection<BSONDocument> {
        try session.collection(Self.members, .documents)
    }

    // MARK: Collections

    /// For each collection of which bags may have documents, the path of their ids in memberships.
    func paths() throws -> [BytewiseText: String] {
        Dictionary(
            try references().filter { $0.path != "bag" }.map { (BytewiseText($0.collection), $0.path) },
            uniquingKeysWith: { $1 })
    }

    private func references() throws -> [Database.CollectionReference] {
        try session.collectionInfo(Self.members)?.references ?? []
    }

    /// Declares that bags may have documents of some collections.
    func prepare(_ collections: Set<BytewiseText>) throws {
        var references = try references()
        let isNew = references.isEmpty
        if isNew { references.append(.init("bag", to: Self.bags, onDelete: .cascade)) }
        // The first reference is to the bag itself, not to a bag in it.
        let declared = references.filter { $0.path != "bag" }.map(\.collection).bytewiseSet
        let missing = collections.subtracting(declared).sorted().map(\.text)
        guard isNew || !missing.isEmpty else { return }
        var added: [String] = []
        // A collection has a limited number of references and indexes. No member refers to a collection that was dropped.
        let names = try session.collections().map(\.name).bytewiseSet.union([Self.bags].bytewiseSet).union(collections)
        let unused = references.filter { !names.contains(BytewiseText($0.collection)) }
        references.removeAll { unused.contains($0) }
        for collection in missing {
            let path = Self.path(of: collection, besides: references.map(\.path))
            references.append(.init(path, to: collection, onDelete: .cascade))
            added.append(path)
        }
        try session.setReferences(references, of: Self.members)
        let members = try memberDocuments()
        if isNew { try members.ensureIndex(on: ["bag": .ascending, "at": .ascending]) }
        let indexes = try members.indexes().map(\.name)
        for index in unused.map({ $0.path + "_1" }) where indexes.contains(index) { try members.dropIndex(index) }
        for path in added { try members.ensureIndex(on: [path: .ascending]) }
    }

    /// A path for the ids of a collection's documents. Its name cannot be the key: it may have dots, be a number, and change.
    private static func path(of collection: String, besides taken: [String]) -> String {
        let letters = collection.unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": Character(scalar)
            default: Character("_")
            }
        }
        let base = "in._" + String(letters)
        var path = base
        var number = 2
        while taken.contains(path) {
            path = "\(base)_\(number)"
            number += 1
        }
        return path
    }

    // MARK: Bags

    func names() throws -> [String] {
        try bagDocuments().find().sorted(by: "_id").all().compactMap { $0["_id"]?.stringValue }
    }

    func names(containing key: ObjectKey) throws -> [String] {
        guard let path = try paths()[BytewiseText(key.collection)] else { return [] }
        // A bag has a document once.
        let found = try memberDocuments().find([path: ["$eq": key.id]], hints: ["$orderby": ["bag": 1]]).all()
        return found.compactMap { $0["bag"]?.stringValue }
    }

    func remove(_ name: String) throws -> Bool {
        try bagDocuments().remove(id: BSONValue.string(name))
    }

    func rename(_ name: String, to newName: String) throws {
        let bags = try bagDocuments()
        guard try bags.get(BSONValue.string(name)) != nil else {
            throw TansuError(.notFound, "There is no bag \"\(name)\"; add to it first", context: name)
        }
        if newName == name { return }
        try bags.insert(["_id": .string(newName)])
        for path in ["bag", try paths()[BytewiseText(Self.bags)]].compactMap({ $0 }) {
            _ = try memberDocuments().update([path: .string(name)], ["$set": [path: .string(newName)]])
        }
        _ = try remove(name)
    }

    // MARK: Documents

    func objects<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type, _ name: String
    ) throws -> [Element] where Element.ID: Codable & Hashable & Sendable {
        let collection = try ModelRegistry.of(session.database).collection(of: type, in: session)
        let ids = try keys(of: name).filter { $0.collection == collection.name }.map(\.id)
        return try collection.documents(ids)
    }

    func documents(of name: String) throws -> [(key: ObjectKey, document: BSONDocument)] {
        let keys = try keys(of: name)
        var documents: [ObjectKey: BSONDocument] = [:]
        for (collection, keys) in Dictionary(grouping: keys, by: { BytewiseText($0.collection) }) {
            for document in try session.collection(collection.text, .documents).get(ids: keys.map(\.id)) {
                documents[ObjectKey(collection: collection.text, id: document["_id"] ?? .null)] = document
            }
        }
        return keys.compactMap { key in documents[key].map { (key, $0) } }
    }

    /// The filter that selects the documents of a collection that are in a bag.
    func filter(_ collection: String, _ name: String) throws -> BSONDocument {
        guard let path = try paths()[BytewiseText(collection)] else { return ["_id": ["$in": []]] }
        let members: BSONDocument = [
            "$from": .string(Self.members), "$field": .string(path), "$query": ["bag": .string(name)],
        ]
        return ["_id": ["$in": .document(members)]]
    }

    // MARK: Members

    func keys(of name: String) throws -> [ObjectKey] {
        let collections = Self.collections(try paths())
        return try members(of: name).compactMap { Self.key($0, collections) }
    }

    func count(of name: String) throws -> Int {
        try memberDocuments().count(["bag": .string(name)])
    }

    func contains(_ key: ObjectKey, _ name: String) throws -> Bool {
        guard let path = try paths()[BytewiseText(key.collection)] else { return false }
        return try memberDocuments().count(["bag": .string(name), path: ["$eq": key.id]]) > 0
    }

    /// Inserts documents at a position, in their order; those that the bag has are moved there. With `nil` new ones come to
    /// the end, and the others stay where they are.
    ///
    /// - Returns: How many are new in the bag.
    func insert(_ keys: [ObjectKey], at position: Int?, of name: String) throws -> Int {
        var seen: Set<ObjectKey> = []
        let wanted = try keys.map(stored).filter { seen.insert($0).inserted }
        let paths = try paths()
        let collections = Self.collections(paths)
        let old = try members(of: name)
        if let position, position < 0 || position > old.count {
            throw TansuError(
                .invalidArgument, "The position \(position) is not in the bag, which has \(old.count) documents",
                context: "position")
        }
        let byKey = Dictionary(
            old.compactMap { member in Self.key(member, collections).map { ($0, member) } }, uniquingKeysWith: { $1 })
        let new = wanted.filter { byKey[$0] == nil }
        guard !wanted.isEmpty, position != nil || !new.isEmpty else { return 0 }
        let bags = try bagDocuments()
        if try bags.get(BSONValue.string(name)) == nil { try bags.insert(["_id": .string(name)]) }
        guard let position else {
            let last = old.last?["at"]?.doubleValue ?? 0
            try save(new, of: name, paths) { last + Double($0 + 1) }
            return new.count
        }
        let moved = Set(wanted)
        let isKept = { (member: BSONDocument) in Self.key(member, collections).map { !moved.contains($0) } ?? true }
        let before = old[..<position].filter(isKept), after = old[position...].filter(isKept)
        let low = before.last?["at"]?.doubleValue ?? (after.first?["at"]?.doubleValue ?? 0) - Double(wanted.count + 1)
        let high = after.first?["at"]?.doubleValue ?? low + Double(wanted.count + 1)
        let step = (high - low) / Double(wanted.count + 1)
        let members = try memberDocuments()
        try members.remove(["_id": ["$in": BSONValue(wanted.compactMap { byKey[$0]?["_id"] })]])
        // Halved often enough, two positions have no number between them.
        if low + step > low, low + step * Double(wanted.count) < high {
            try save(wanted, of: name, paths) { low + step * Double($0 + 1) }
        } else {
            try save(wanted, of: name, paths) { Double(before.count + $0) }
            for (number, member) in before.enumerated() { try renumber(member, number) }
            for (number, member) in after.enumerated() { try renumber(member, before.count + wanted.count + number) }
        }
        return new.count
    }

    /// Removes documents from a bag.
    ///
    /// - Returns: How many it had.
    func remove(_ keys: [ObjectKey], of name: String) throws -> Int {
        let paths = try paths()
        var count = 0
        for (collection, keys) in Dictionary(grouping: keys, by: { BytewiseText($0.collection) }) {
            guard let path = paths[collection] else { continue }
            count += try memberDocuments().remove(
                ["bag": .string(name), path: ["$in": BSONValue(keys.map(\.id))]])
        }
        return count
    }

    func removeAll(of name: String) throws -> Int {
        try memberDocuments().remove(["bag": .string(name)])
    }

    private func members(of name: String) throws -> [BSONDocument] {
        try memberDocuments().find(["bag": .string(name)], hints: ["$orderby": ["at": 1]]).all()
    }

    private func save(
        _ keys: [ObjectKey], of name: String, _ paths: [BytewiseText: String], at position: (Int) -> Double
    ) throws {
        var members: [BSONDocument] = []
        for (number, key) in keys.enumerated() {
            guard let path = paths[BytewiseText(key.collection)] else {
                throw TansuError(
                    .invalidState, "The collection is not declared for bags; report this error",
                    context: key.collection)
            }
            var member: BSONDocument = ["bag": .string(name)]
            member["at"] = .double(position(number))
            member["in"] = [String(path.dropFirst("in.".count)): key.id]
            members.append(member)
        }
        try memberDocuments().insert(members)
    }

    private func renumber(_ member: BSONDocument, _ number: Int) throws {
        var member = member
        member["at"] = .double(Double(number))
        try memberDocuments().save(member)
    }

    /// The key with the id as it is stored: 1 and 1.0 are the same document.
    private func stored(_ key: ObjectKey) throws -> ObjectKey {
        let documents = try session.collection(key.collection, .documents)
        guard let id = try documents.find(["_id": ["$eq": key.id]]).fields(["_id": 1]).first()?["_id"] else {
            throw TansuError(
                .notFound, "The document does not exist; save it before it is added to a bag", context: key.description)
        }
        return ObjectKey(collection: key.collection, id: id)
    }

    /// For each path of ids in memberships, the collection of their documents.
    private static func collections(_ paths: [BytewiseText: String]) -> [BytewiseText: String] {
        Dictionary(paths.map { (BytewiseText($1), $0.text) }, uniquingKeysWith: { $1 })
    }

    private static func key(_ member: BSONDocument, _ collections: [BytewiseText: String]) -> ObjectKey? {
        guard let field = member["in"]?.documentValue?.first,
            let collection = collections[BytewiseText("in." + field.key)]
        else {
            return nil
        }
        return ObjectKey(collection: collection, id: field.value)
    }
}
