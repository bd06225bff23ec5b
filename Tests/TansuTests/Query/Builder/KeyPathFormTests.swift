import Foundation
import Tansu
import Testing

/// Each form against a plain filter of the same values.
@Suite("Forms of conditions by key path")
struct KeyPathFormTests {
    enum Priority: Int, Codable, Sendable { case low = 1, high = 5, urgent = 9 }
    enum Grade: String, Codable, Sendable { case a, b, c }

    struct Line: Codable, Sendable {
        enum CodingKeys: String, CodingKey { case quantity = "q", product, isGift, details }
        struct Detail: Codable, Sendable { var weight: Double }
        var quantity: Int
        var product: String
        var isGift: Bool
        var details: [Detail]?
    }

    struct Task: Codable, Sendable, Identifiable {
        var id: Int
        var priority: Priority
        var grade: Grade?
        var isActive: Bool
        var size: Int?
        var name: String
        var lines: [Line]
        var more: [Line]?
    }

    private static let all = (0..<30).map { n in
        Task(
            id: n, priority: [.low, .high, .urgent][n % 3], grade: [.a, .b, .c, nil][n % 4], isActive: n % 2 == 0,
            size: n % 5 == 0 ? nil : n % 7, name: "name \(n % 6)",
            lines: (0..<n % 4).map { i in
                Line(
                    quantity: n + i, product: "p\((n + i) % 5)", isGift: i % 2 == 0,
                    details: i == 1 ? nil : [.init(weight: Double(i) / 2)])
            }, more: n % 3 == 0 ? nil : [Line(quantity: n, product: "m", isGift: true)])
    }

    private func tasks() throws -> Database.Collection<Task> {
        let tasks = try Database(.memory).collection("tasks", of: Task.self)
        try tasks.insert(Self.all)
        return tasks
    }

    private func expect(
        _ query: Database.Query<Task>, _ plain: (Task) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = Self.all.filter(plain).map(\.id)
        #expect(!expected.isEmpty && expected.count < Self.all.count, sourceLocation: sourceLocation)
        #expect(try query.all().map(\.id) == expected, "\(query.filter)", sourceLocation: sourceLocation)
    }

    @Test("Sets and half-open ranges")
    func sets() throws {
        let tasks = try tasks()
        let (ids, sizes): (Set<Int>, Set<Int?>) = ([1, 4, 99], [2, 3])
        try expect(tasks.find { $0.id.in(ids) }) { ids.contains($0.id) }
        try expect(tasks.find { $0.size.in(sizes) }) { sizes.contains($0.size) }
        let (priorities, grades): (Set<Priority>, Set<Grade>) = ([.low, .urgent], [.a, .c])
        try expect(tasks.find { $0.priority.in(priorities) }) { priorities.contains($0.priority) }
        try expect(tasks.find { $0.grade.in(grades) }) { $0.grade.map(grades.contains) ?? false }
        try expect(tasks.find { $0.id.in(20...) }) { $0.id >= 20 }
        try expect(tasks.find { $0.id.in(...20) }) { $0.id <= 20 }
        try expect(tasks.find { $0.size.in(..<3) }) { $0.size.map { $0 < 3 } ?? false }
        try expect(tasks.find { $0.name.in("name 3"...) }) { $0.name >= "name 3" }
    }

    @Test("A property that is true or false is a condition")
    func truth() throws {
        let tasks = try tasks()
        try expect(tasks.find { $0.isActive }) { $0.isActive }
        try expect(tasks.find { !$0.isActive }) { !$0.isActive }
        try expect(tasks.find { $0.isActive && $0.id > 7 }) { $0.isActive && $0.id > 7 }
        try expect(tasks.find { $0.id > 7 && $0.isActive }) { $0.id > 7 && $0.isActive }
        try expect(tasks.find { $0.id > 7 || $0.isActive }) { $0.id > 7 || $0.isActive }
        try expect(tasks.find { !($0.isActive || $0.id < 7) && !$0.isActive }) { !($0.isActive || $0.id < 7) }
        try expect(tasks.find { $0.lines.contains { $0.isGift } }) { $0.lines.contains { $0.isGift } }
        try expect(tasks.find { $0.lines.contains { !$0.isGift && $0.quantity > 9 } }) {
            $0.lines.contains { !$0.isGift && $0.quantity > 9 }
        }
        try expect(tasks.find { $0.lines.allSatisfy { $0.isGift } }) { $0.lines.allSatisfy { $0.isGift } }
        #expect(try tasks.find { $0.isActive }.filter == ["isActive": true])
    }

    @Test("Enums have the order of their raw values")
    func order() throws {
        let tasks = try tasks()
        try expect(tasks.find { $0.priority >= .high }) { $0.priority.rawValue >= 5 }
        try expect(tasks.find { $0.priority < .urgent && $0.priority > .low }) { $0.priority == .high }
        try expect(tasks.find { $0.priority <= Priority.low }) { $0.priority == .low }
        try expect(tasks.find { $0.grade > .a }) { $0.grade.map { $0.rawValue > "a" } ?? false }
        try expect(tasks.find { $0.grade <= .b }) { $0.grade.map { $0.rawValue <= "b" } ?? false }
        try expect(tasks.find { $0.priority.rawValue.in([1, 9]) }) { $0.priority != .high }
    }

    @Test("A part of a condition may be a document")
    func raw() throws {
        let tasks = try tasks()
        try expect(tasks.find { $0.id > 7 && .raw(["name": ["$regex": "3$"]]) }) { $0.id > 7 && $0.name == "name 3" }
        try expect(tasks.find { !.raw(["name": "name 3"]) && !$0.isActive }) { $0.name != "name 3" && !$0.isActive }
        try expect(tasks.find { .raw(["$or": [["_id": 3], ["_id": 5]]]) || $0.id == 7 }) { [3, 5, 7].contains($0.id) }
        try expect(tasks.find { $0.id < 9 && .raw(["_id": ["$gt": 3]]) && $0.id != 5 }) {
            [4, 6, 7, 8].contains($0.id)
        }
        try expect(tasks.find { $0.lines.contains { $0.isGift && .raw(["q": ["$mod": [4, 3]]]) } }) {
            $0.lines.contains { $0.isGift && $0.quantity % 4 == 3 }
        }
        try expect(tasks.find { .raw([:]) && $0.id == 3 }) { $0.id == 3 }
        let numbers = try Database(.memory).collection("numbers", of: Numbers.self)
        try numbers.insert([Numbers(id: 1, all: [1, 5]), Numbers(id: 2, all: [2, 4]), Numbers(id: 3, all: [])])
        #expect(try numbers.find { $0.all.contains { $0 > 3 && .raw(["$mod": [2, 1]]) } }.all().map(\.id) == [1])
    }

    struct Numbers: Codable, Sendable, Identifiable { var id: Int; var all: [Int] }

    @Test("Aggregates and distinct values of the elements of arrays")
    func elements() async throws {
        let tasks = try tasks()
        let lines = Self.all.flatMap(\.lines)
        let all = tasks.find()
        let (sum, least, greatest) = try await all.aggregate(
            .sum(\.lines.quantity), .min(\.lines.quantity), .max(\.lines.product))
        #expect(sum == lines.map(\.quantity).reduce(0, +))
        #expect(least == lines.map(\.quantity).min() && greatest == lines.map(\.product).max())
        let products = try await all.distinct(\.lines.product)
        #expect(products == Set(lines.map(\.product)).sorted())
        let more = try await all.aggregate(.sum(\.more.quantity))
        let others: [Line] = Self.all.flatMap { $0.more ?? [] }
        #expect(more == others.map(\.quantity).reduce(0, +))
        let weights = try await all.distinct(\.lines.details.weight)
        #expect(weights == [0, 1])
        for (isActive, sum) in try await all.groups(by: \.isActive, .sum(\.lines.quantity)) {
            let active = Self.all.filter { $0.isActive == isActive }
            let quantities = active.flatMap(\.lines).map(\.quantity)
            #expect(sum == quantities.reduce(0, +))
        }
    }

    @Test("UUIDs print as UUIDs, and are read back")
    func uuids() throws {
        struct Note: Codable, Sendable, Identifiable { var id: UUID }
        let id = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
        let notes = try Database(.memory).collection("notes", of: Note.self)
        let filter = try notes.find { $0.id == id }.filter
        #expect("\(filter)" == #"{"_id":{"$uuid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}}"#)
        #expect(try BSONDocument(extendedJSON: "\(filter)") == filter)
        #expect(filter.extendedJSON().contains("$binary"))
        #expect("\(BSONValue(id))".contains("6BA7B810-9DAD-11D1"))
    }
}
