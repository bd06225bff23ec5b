import Tansu
import TansuTestSupport
import Testing

/// Delete rules as the documentation describes them, over documents in dictionaries.
private struct PlainStore {
    struct Rule {
        var holder: String
        var reference: Database.CollectionReference
    }

    struct Key: Hashable {
        var collection: String
        var id: String
    }

    /// Documents in the order of their insertion.
    var documents: [String: [BSONDocument]] = [:]
    var rules: [Rule] = []

    /// What ids are equal by: numbers by their value, whatever their type.
    static func identity(_ value: BSONValue) -> String? {
        switch value {
        case .null, .array, .undefined, .regularExpression: nil
        case .int32(let number): "number \(Double(number))"
        case .int64(let number): "number \(Double(number))"
        case .double(let number): "number \(number)"
        // Strings of Swift are equal when they are canonically equivalent, ids by their bytes.
        case .string(let text): "string \(Array(text.utf8))"
        default: "\(value)"
        }
    }

    static func key(_ document: BSONDocument, in collection: String) -> Key {
        Key(collection: collection, id: identity(document["_id"] ?? .null) ?? "")
    }

    /// The references of a document by one rule.
    private func targets(_ document: BSONDocument, _ rule: Rule) -> [Key] {
        func ends(_ value: BSONValue) -> [BSONValue] {
            if case .array(let array) = value { Array(array) } else { [value] }
        }
        var values: [BSONValue]
        let parts = rule.reference.path.split(separator: ".").map(String.init)
        guard let first = document[parts[0]] else { return [] }
        if parts.count == 1 {
            values = ends(first)
        } else {
            values = ends(first).flatMap { part -> [BSONValue] in
                guard case .document(let inner) = part, let value = inner[parts[1]] else { return [] }
                return ends(value)
            }
        }
        return values.compactMap { Self.identity($0) }.map { Key(collection: rule.reference.collection, id: $0) }
    }

    private static func nullified(_ value: BSONValue, _ isGone: (BSONValue) -> Bool) -> BSONValue {
        if case .array(let array) = value { return .array(BSONArray(array.filter { !isGone($0) })) }
        return isGone(value) ? .null : value
    }

    private func nullified(_ document: BSONDocument, _ rule: Rule, _ gone: Set<Key>) -> BSONDocument {
        var changed = document
        let parts = rule.reference.path.split(separator: ".").map(String.init)
        guard let first = document[parts[0]] else { return document }
        let isGone: (BSONValue) -> Bool = { value in
            Self.identity(value).map { gone.contains(Key(collection: rule.reference.collection, id: $0)) } ?? false
        }
        if parts.count == 1 {
            changed[parts[0]] = Self.nullified(first, isGone)
            return changed
        }
        let inside: (BSONValue) -> BSONValue = { part in
            guard case .document(var inner) = part, let value = inner[parts[1]] else { return part }
            inner[parts[1]] = Self.nullified(value, isGone)
            return .document(inner)
        }
        if case .array(let array) = first {
            changed[parts[0]] = .array(BSONArray(array.map(inside)))
        } else {
            changed[parts[0]] = inside(first)
        }
        return changed
    }

    /// Removes documents by the rules; false, without a change, when one denies it.
    mutating func remove(_ keys: Set<Key>) -> Bool {
        var gone = keys
        var found = true
        while found {
            found = false
            for rule in rules where rule.reference.onDelete == .cascade {
                for document in documents[rule.holder] ?? [] {
                    let key = Self.key(document, in: rule.holder)
                    if !gone.contains(key), targets(document, rule).contains(where: gone.contains) {
                        gone.insert(key)
                        found = true
                    }
                }
            }
        }
        for rule in rules where rule.reference.onDelete == .deny {
            for document in documents[rule.holder] ?? []
            where !gone.contains(Self.key(document, in: rule.holder))
                && targets(document, rule).contains(where: gone.contains)
            {
                return false
            }
        }
        for (name, all) in documents {
            documents[name] = all.filter { !gone.contains(Self.key($0, in: name)) }
        }
        for rule in rules where rule.reference.onDelete == .nullify {
            documents[rule.holder] = documents[rule.holder]?.map { nullified($0, rule, gone) }
        }
        return true
    }

    /// How many references lead nowhere; equal ones of one document and path count once.
    func dangling() -> Set<String> {
        var dangling: Set<String> = []
        for rule in rules {
            let there = Set(
                (documents[rule.reference.collection] ?? []).map { Self.key($0, in: rule.reference.collection) })
            for document in documents[rule.holder] ?? [] {
                for target in targets(document, rule) where !there.contains(target) {
                    dangling.insert(
                        "\(rule.holder) \(Self.key(document, in: rule.holder).id) \(rule.reference.path) \(target.id)")
                }
            }
        }
        return dangling
    }
}

private let names = ["a", "b", "c"]

/// Ids that numbers of other types equal, and text that differs by case and accent only.
private let ids: [BSONValue] = [1, 2, 3, .int64(4), .double(5), .double(2.5), "x", "X", "é", "e\u{301}", ""]

private func reference(_ generator: inout SeededGenerator) -> BSONValue {
    let id = ids[Int.random(in: ids.indices, using: &generator)]
    guard case .int32(let number) = id else { return id }
    return [id, .int64(Int64(number)), .double(Double(number))][Int.random(in: 0..<3, using: &generator)]
}

private func document(_ id: BSONValue, _ generator: inout SeededGenerator) -> BSONDocument {
    func some(_ count: Int, _ make: (inout SeededGenerator) -> BSONValue) -> BSONValue {
        .array(BSONArray((0..<Int.random(in: 0...count, using: &generator)).map { _ in make(&generator) }))
    }
    var result: BSONDocument = ["_id": id, "group": .int32(Int32.random(in: 0..<4, using: &generator))]
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: result["one"] = reference(&generator)
    case 1: result["one"] = .null
    case 2: result["one"] = some(3, reference)
    default: break
    }
    if Bool.random(using: &generator) { result["many"] = some(3, reference) }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: result["parts"] = .document(["ref": reference(&generator)])
    case 1:
        result["parts"] = some(3) { generator in
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: .document(["ref": reference(&generator), "n": 1])
            case 1: .document(["ref": .array([reference(&generator), reference(&generator)])])
            default: "no document"
            }
        }
    default: break
    }
    return result
}

@Suite("Delete rules beside a plain model")
struct DeleteRulePropertyTests {
    private func index(_ db: Database, _ generator: inout SeededGenerator) throws {
        for name in names {
            let collection = try db.collection(name)
            for path in ["one", "many", "parts.ref"] {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: try collection.ensureIndex(on: [path: .ascending])
                case 1: try collection.ensureIndex(on: [path: .descending], sparse: true)
                case 2: try collection.ensureIndex(on: [path: .ascending], caseInsensitive: true)
                case 3: try collection.ensureIndex(on: [path: .ascending], partialFilter: ["group": 1])
                case 4: try collection.ensureIndex(on: ["group": .ascending, path: .ascending])
                default: break
                }
            }
            if Int.random(in: 0..<4, using: &generator) == 0 { try collection.ensureWildcardIndex() }
        }
    }

    private func check(_ db: Database, _ store: PlainStore, _ what: String) throws {
        for name in names {
            #expect(try db.collection(name).find().all() == store.documents[name] ?? [], "\(what): \(name)")
        }
        let dangling = try db.danglingReferences().references
        let found = Set(
            dangling.map {
                "\($0.collection) \(PlainStore.identity($0.id) ?? "") \($0.path) \(PlainStore.identity($0.value) ?? "")"
            })
        #expect(found == store.dangling(), "\(what): references that dangle")
    }

    @Test(
        "Removals of every kind, over random references with cycles, leave what the rules say, or nothing is changed",
        arguments: 0..<60)
    func removals(round: Int) throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed() &+ UInt64(round))
        let folder = try TemporaryFolder()
        var db = try Database(path: folder.path("db"))
        var store = PlainStore()
        for name in names {
            var references: [Database.CollectionReference] = []
            for path in ["one", "many", "parts.ref"] where Int.random(in: 0..<4, using: &generator) > 0 {
                let rules: [Database.DeleteRule] = [.cascade, .nullify, .nullify, .deny, .ignore]
                let rule = rules[Int.random(in: rules.indices, using: &generator)]
                let target = names[Int.random(in: names.indices, using: &generator)]
                references.append(Database.CollectionReference(path, to: target, onDelete: rule))
            }
            try db.setReferences(references, of: name)
            store.rules += references.map { PlainStore.Rule(holder: name, reference: $0) }
        }
        try index(db, &generator)
        for step in 0..<12 {
            let what = "round \(round) step \(step) of seed \(SeededGenerator.seed())"
            for name in names {
                let there = Set((store.documents[name] ?? []).map { PlainStore.key($0, in: name) })
                for id in ids where Bool.random(using: &generator) {
                    let new = document(id, &generator)
                    guard !there.contains(PlainStore.key(new, in: name)) else { continue }
                    try db.collection(name).insert(new)
                    store.documents[name, default: []].append(new)
                }
            }
            let name = names[Int.random(in: names.indices, using: &generator)]
            let all = store.documents[name] ?? []
            let group = Int32.random(in: 0..<4, using: &generator)
            let inGroup = all.filter { $0["group"] == .int32(group) }
            guard let victim = all.randomElement(using: &generator), let id = victim["_id"] else { continue }
            var removed = store
            let keep = Int.random(in: 0..<4, using: &generator) == 0
            let kind = Int.random(in: 0..<6, using: &generator)
            let isAllowed: Bool
            var gone: [BSONDocument]
            switch kind {
            case 0, 1: gone = [victim]
            case 2, 3: gone = inGroup
            case 4: gone = inGroup.first.map { [$0] } ?? []
            default: gone = all
            }
            isAllowed = removed.remove(Set(gone.map { PlainStore.key($0, in: name) }))
            struct Rollback: Error {}
            do {
                try db.write { transaction in
                    let collection = try transaction.collection(name)
                    let remove = {
                        switch kind {
                        case 0, 1: #expect(try collection.remove(["_id": id]) == 1)
                        case 2: #expect(try collection.remove(["group": .int32(group)]) == gone.count, "\(what)")
                        case 3:
                            let result = try collection.update(["group": .int32(group)], ["$dropall": true])
                            #expect(result.matched == gone.count, "\(what)")
                        case 4:
                            let found = try collection.findAndRemove(["group": .int32(group)])
                            #expect(found == gone.first, "\(what)")
                        default: #expect(try collection.remove([:]) == gone.count, "\(what)")
                        }
                    }
                    if keep {
                        do {
                            try transaction.savepoint {
                                try remove()
                                throw Rollback()
                            }
                        } catch is Rollback {}
                    } else {
                        try remove()
                    }
                }
                #expect(isAllowed, "\(what): a rule denies it")
                if !keep { store = removed }
            } catch let error as TansuError {
                #expect(error.code == .referenced, "\(what): \(error)")
                #expect(!isAllowed, "\(what): no rule denies it, \(error)")
            }
            try check(db, store, what)
        }
        try db.close()
        db = try Database(path: folder.path("db"))
        try check(db, store, "round \(round) opened again")
        try db.verify()
        try db.close()
    }
}
