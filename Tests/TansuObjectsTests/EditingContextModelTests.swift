import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private struct Item: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var text: String
}

/// Removed with its item.
private struct Line: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var text: String
    var item: Reference<Item>
}

/// Loses its item.
private struct Note: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var text: String
    var item: Reference<Item>?
}

private enum Kind: CaseIterable { case item, line, note }

private struct Key: Hashable {
    let kind: Kind
    let id: Int
}

/// The reference of a document. A delete rule leaves null; a type without a value leaves the field out.
private enum Field: Hashable {
    case missing, null
    case item(Int)

    init(_ id: Int?) { self = id.map { .item($0) } ?? .missing }

    var id: Int? { if case .item(let id) = self { id } else { nil } }
}

private struct Value: Hashable {
    var text: String
    var item = Field.missing

    /// As a type decodes it.
    var decoded: Value { Value(text: text, item: Field(item.id)) }
}

/// What is stored, as dictionaries, with the delete rules of the model.
private struct Store {
    var values: [Key: Value] = [:]

    mutating func save(_ value: Value?, _ key: Key) {
        let existed = values[key] != nil
        values[key] = value
        guard value == nil, existed, key.kind == .item else { return }
        for (other, value) in values where value.item.id == key.id {
            if other.kind == .line { values[other] = nil }
            if other.kind == .note { values[other]?.item = .null }
        }
    }
}

/// An editing context, as dictionaries: what it says of itself in its documentation.
private struct ContextModel {
    struct Entry: Hashable {
        var stored: Value?
        var current: Value?
        var order = 0

        var isChanged: Bool { stored != current }
    }

    struct Step {
        let key: Key
        let before: Value?
        let after: Value?
    }

    var entries: [Key: Entry] = [:]
    var undoSteps: [Step] = []
    var redoSteps: [Step] = []
    var number = 0

    var changed: [Key] {
        entries.filter(\.value.isChanged).sorted { $0.value.order < $1.value.order }.map(\.key)
    }

    mutating func get(_ key: Key, _ store: Store) -> Value? {
        if let entry = entries[key] { return entry.current }
        guard let value = store.values[key] else { return nil }
        entries[key] = Entry(stored: value, current: value)
        return value
    }

    mutating func put(_ key: Key, _ value: Value?) {
        number += 1
        var entry = entries[key] ?? Entry(order: number)
        if !entry.isChanged { entry.order = number }
        entry.current = value
        entries[key] = entry.stored == nil && value == nil ? nil : entry
    }

    mutating func change(_ key: Key, to value: Value?) {
        redoSteps = []
        undoSteps.append(Step(key: key, before: entries[key]?.current, after: value))
        put(key, value)
    }

    mutating func revert(_ step: Step) {
        guard let before = step.before, let after = step.after, var current = entries[step.key]?.current else {
            return put(step.key, step.before)
        }
        if before.text != after.text { current.text = before.text }
        if before.item != after.item { current.item = before.item }
        put(step.key, current)
    }

    mutating func undo() -> Bool {
        guard let step = undoSteps.popLast() else { return false }
        revert(step)
        redoSteps.append(step)
        return true
    }

    mutating func redo() -> Bool {
        guard let step = redoSteps.popLast() else { return false }
        revert(Step(key: step.key, before: step.after, after: step.before))
        undoSteps.append(step)
        return true
    }

    /// The documents of a kind as the context sees them.
    mutating func fetch(_ kind: Kind, _ store: Store) -> [Int: Value] {
        var overlaid = store
        for key in changed { overlaid.save(entries[key]?.current, key) }
        var found: [Int: Value] = [:]
        for key in overlaid.values.keys where key.kind == kind {
            if let value = entries[key].map(\.current) ?? get(key, store) { found[key.id] = value }
        }
        return found
    }

    /// Saves; what the context has wins over what others have saved.
    mutating func save(_ store: inout Store) -> Int {
        let keys = changed
        let before = entries
        let changes = keys.filter { before[$0]?.current != store.values[$0] }
        let isRemoval = { (key: Key) in before[key]?.current == nil }
        for key in changes where !isRemoval(key) { store.save(before[key]?.current, key) }
        for key in changes where isRemoval(key) { store.save(nil, key) }
        // After a removal it reads again what the rules may have changed.
        let known = changes.contains(where: isRemoval) ? Array(before.keys) : keys
        for key in known {
            entries[key] = store.values[key].map {
                Entry(stored: $0, current: $0, order: before[key]?.order ?? 0)
            }
        }
        return changes.count
    }

    mutating func reload(_ store: Store) {
        for (key, entry) in entries where !entry.isChanged {
            entries[key] = store.values[key].map { Entry(stored: $0, current: $0, order: entry.order) }
        }
    }
}

@Suite("Editing contexts beside a model of dictionaries")
struct EditingContextModelTests {
    private let db: Database

    init() throws {
        db = try Database(.memory)
        try db.use(
            Model {
                Entity("items", of: Item.self)
                Entity("lines", of: Line.self).reference(\.item, to: "items", onDelete: .cascade)
                Entity("notes", of: Note.self).reference(\.item, to: "items", onDelete: .nullify)
            })
    }

    private func stored() throws -> Store {
        var store = Store()
        for item in try db.collection(of: Item.self).find().all() {
            store.values[Key(kind: .item, id: item.id)] = Value(text: item.text)
        }
        for line in try db.collection(of: Line.self).find().all() {
            store.values[Key(kind: .line, id: line.id)] = Value(text: line.text, item: .item(line.item.id))
        }
        for note in try db.collection("notes").find().all() {
            let field = note["item"]
            let item: Field = field == nil ? .missing : field == .null ? .null : Field(field?.intValue)
            store.values[Key(kind: .note, id: note["_id"]?.intValue ?? -1)] = Value(
                text: note["text"]?.stringValue ?? "", item: item)
        }
        return store
    }

    private func save(_ value: Value?, _ key: Key) throws {
        switch (key.kind, value) {
        case (.item, let value?): try db.collection(of: Item.self).save(Item(id: key.id, text: value.text))
        case (.line, let value?):
            try db.collection(of: Line.self).save(
                Line(id: key.id, text: value.text, item: Reference(id: value.item.id ?? 0)))
        case (.note, let value?):
            try db.collection(of: Note.self).save(
                Note(id: key.id, text: value.text, item: value.item.id.map { Reference(id: $0) }))
        case (.item, nil): try db.collection(of: Item.self).remove(id: key.id)
        case (.line, nil): try db.collection(of: Line.self).remove(id: key.id)
        case (.note, nil): try db.collection(of: Note.self).remove(id: key.id)
        }
    }

    private func get(_ key: Key, _ context: EditingContext) async throws -> Value? {
        switch key.kind {
        case .item: try await context.get(Item.self, id: key.id).map { Value(text: $0.text) }
        case .line: try await context.get(Line.self, id: key.id).map { Value(text: $0.text, item: .item($0.item.id)) }
        case .note: try await context.get(Note.self, id: key.id).map { Value(text: $0.text, item: Field($0.item?.id)) }
        }
    }

    private func insert(_ value: Value, _ key: Key, _ context: EditingContext) async throws {
        switch key.kind {
        case .item: try await context.insert(Item(id: key.id, text: value.text))
        case .line:
            try await context.insert(Line(id: key.id, text: value.text, item: Reference(id: value.item.id ?? 0)))
        case .note:
            try await context.insert(
                Note(id: key.id, text: value.text, item: value.item.id.map { Reference(id: $0) }))
        }
    }

    private func update(_ value: Value, _ key: Key, _ context: EditingContext) async throws -> Bool {
        switch key.kind {
        case .item: try await context.update(Item.self, id: key.id) { $0.text = value.text } != nil
        case .line:
            try await context.update(Line.self, id: key.id) {
                $0.text = value.text
                $0.item = Reference(id: value.item.id ?? 0)
            } != nil
        case .note:
            try await context.update(Note.self, id: key.id) {
                $0.text = value.text
                $0.item = value.item.id.map { Reference(id: $0) }
            } != nil
        }
    }

    private func remove(_ key: Key, _ context: EditingContext) async throws -> Bool {
        switch key.kind {
        case .item: try await context.remove(Item.self, id: key.id)
        case .line: try await context.remove(Line.self, id: key.id)
        case .note: try await context.remove(Note.self, id: key.id)
        }
    }

    private func fetch(_ kind: Kind, _ context: EditingContext) async throws -> [Int: Value] {
        let pairs: [(Int, Value)] =
            switch kind {
            case .item:
                try await context.fetch(db.collection(of: Item.self).find()).map { ($0.id, Value(text: $0.text)) }
            case .line:
                try await context.fetch(db.collection(of: Line.self).find()).map {
                    ($0.id, Value(text: $0.text, item: .item($0.item.id)))
                }
            case .note:
                try await context.fetch(db.collection(of: Note.self).find()).map {
                    ($0.id, Value(text: $0.text, item: Field($0.item?.id)))
                }
            }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("random changes, removals with delete rules, undo, saves and the changes of others")
    func random() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for world in 0..<12 {
            for kind in Kind.allCases {
                for id in 0..<6 { try save(nil, Key(kind: kind, id: id)) }
            }
            let context = EditingContext(db, conflicts: .mine, undoLevels: 1000)
            var model = ContextModel()
            var store = Store()
            for step in 0..<150 {
                let key = Key(
                    kind: Kind.allCases.randomElement(using: &random) ?? .item,
                    id: Int.random(in: 0..<6, using: &random))
                let id = Int.random(in: 0..<6, using: &random)
                let item: Field =
                    switch key.kind {
                    case .item: .missing
                    case .line: .item(id)
                    case .note: Bool.random(using: &random) ? .item(id) : .missing
                    }
                let value = Value(text: "\(Int.random(in: 0..<3, using: &random))", item: item)
                let operation = Int.random(in: 0..<16, using: &random)
                switch operation {
                case 0, 1:
                    if model.entries[key]?.current == nil {
                        try await insert(value, key, context)
                        model.change(key, to: value)
                    } else {
                        await #expect(throws: TansuError.self) { try await insert(value, key, context) }
                    }
                case 2, 3, 4:
                    let current = model.get(key, store)
                    let isThere = try await update(value, key, context)
                    #expect(isThere == (current != nil))
                    // A reference that was null, and is not set, stays null.
                    if var changed = current {
                        changed.text = value.text
                        if Field(changed.item.id) != value.item { changed.item = value.item }
                        if changed != current { model.change(key, to: changed) }
                    }
                case 5, 6:
                    let current = model.get(key, store)
                    let wasThere = try await remove(key, context)
                    #expect(wasThere == (current != nil))
                    if current != nil { model.change(key, to: nil) }
                case 7:
                    let isDone = try await context.undo()
                    #expect(isDone == model.undo())
                case 8:
                    let isDone = try await context.redo()
                    #expect(isDone == model.redo())
                case 9, 10:
                    let count = try await context.save()
                    #expect(count == model.save(&store))
                case 11:
                    try await context.reload()
                    model.reload(store)
                case 12:
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        await context.discard()
                        model = ContextModel()
                    }
                case 13:
                    let change = Bool.random(using: &random) ? value : nil
                    try save(change, key)
                    store.save(change, key)
                case 14:
                    let found = try await fetch(key.kind, context)
                    #expect(found == model.fetch(key.kind, store).mapValues(\.decoded))
                default:
                    let found = try await get(key, context)
                    #expect(found == model.get(key, store)?.decoded)
                }
                let now = try stored()
                let hasChanges = await context.hasChanges
                let changedCount = await (context.insertedObjects + context.updatedObjects + context.removedObjects)
                    .count
                let isSame =
                    now.values == store.values && hasChanges == !model.changed.isEmpty
                    && changedCount == model.changed.count
                #expect(isSame, "operation \(operation) on \(key), step \(step) of world \(world), seed \(seed)")
                if !isSame { return }
            }
        }
    }
}
