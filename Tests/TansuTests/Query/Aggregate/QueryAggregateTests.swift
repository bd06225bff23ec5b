import Foundation
import Tansu
import Testing

@Suite("Aggregates, groups and distinct values by key path")
struct QueryAggregateTests {
    struct Cat: Codable, Sendable {
        var id: Int
        var name: String
        var age: Int
        var weight: Double?
        var color: String?
        var tags: [String] = []
        var toys: Set<Int> = []
        var born: Date?
    }

    private let cats: Database.Collection<Cat>

    init() throws {
        cats = try Database(.memory).collection("cats", of: Cat.self)
        try cats.insert([
            Cat(id: 1, name: "Mia", age: 3, weight: 4.5, color: "black", tags: ["a", "b"], toys: [7, 3]),
            Cat(id: 2, name: "Tom", age: 5, color: "white", tags: ["b"], born: Date(timeIntervalSince1970: 5)),
            Cat(id: 3, name: "Leo", age: 10, weight: 3.5, color: "black", toys: [3, 5]),
            Cat(id: 4, name: "Kit", age: 2),
        ])
    }

    @Test("Aggregates are returned in their types")
    func aggregates() throws {
        let (number, sum, mean) = try cats.find { $0.age > 2 }.aggregate(.count, .sum(\.age), .average(\.weight))
        #expect(number == 3 && sum == 18 && mean == 4)
        let (least, greatest, first, last) = try cats.find().aggregate(
            .min(\.weight), .max(\.name), .first(\.color), .last(\.color))
        #expect(least == 3.5 && greatest == "Tom" && first == "black" && last == nil)
        let one: Int = try cats.find { $0.color != nil }.aggregate(.count)
        #expect(one == 3)
        let tags = try cats.find().aggregate(.distinctElements(\.tags))
        #expect(tags == ["a", "b"])
    }

    @Test("A sum out of the range of its type is an error that names aggregate, property and collection")
    func range() throws {
        try cats.insert([Cat(id: 5, name: "A", age: .max), Cat(id: 6, name: "B", age: .max)])
        let sum = Database.Aggregate<Cat, Int>.sum(\.age)
        for call in [
            { _ = try cats.find().aggregate(sum) }, { _ = try cats.find().aggregate(.count, sum) },
            { _ = try cats.find().groups(by: \.color, sum) },
            { _ = try cats.find().groups(by: .value(\.color), computing: sum) },
        ] {
            let error = #expect(throws: DecodingError.self, performing: call)
            guard case .dataCorrupted(let context) = error else {
                Issue.record("\(error as Any)")
                continue
            }
            for part in ["\"$sum\"", "\"age\"", "\"cats\""] {
                #expect(context.debugDescription.contains(part), "\(context.debugDescription)")
            }
        }
    }

    @Test("Of no documents there are no values, and the sum is 0")
    func nothing() throws {
        let (number, sum, mean, least) = try cats.find { $0.age > 99 }.aggregate(
            .count, .sum(\.weight), .average(\.age), .min(\.born))
        #expect(number == 0 && sum == 0 && mean == nil && least == nil)
    }

    @Test("Groups are in the order of what they are grouped by, nil among it")
    func groups() throws {
        let groups = try cats.find().groups(by: \.color, .count, .max(\.age))
        #expect(groups.map { $0.0 } == [nil, "black", "white"])
        #expect(groups.map { $0.1 } == [1, 2, 1])
        #expect(groups.map { $0.2 } == [2, 10, 5])
        #expect(try cats.find { $0.color != nil }.groups(by: \.age).count == 3)
    }

    @Test("Distinct values of plain, optional and array properties")
    func distinct() throws {
        #expect(try cats.find().distinct(\.age) == [2, 3, 5, 10])
        #expect(try cats.find { $0.age > 2 }.distinct(\.color) == ["black", "white"])
        #expect(try cats.find().distinct(\.color) == ["black", "white"])
        #expect(try cats.find().distinct(\.tags) == ["a", "b"])
        #expect(try cats.find().distinct(\.toys) == [3, 5, 7])
        #expect(try cats.find().distinct(\.born) == [Date(timeIntervalSince1970: 5)])
    }

    @Test("The async variants do the same")
    func asyncVariants() async throws {
        let (number, mean) = try await cats.find().aggregate(.count, .average(\.age))
        #expect(number == 4 && mean == 5)
        let groups = try await cats.find().groups(by: \.color, .count)
        #expect(groups.map { $0.1 } == [1, 2, 1])
        #expect(try await cats.find().distinct(\.age) == [2, 3, 5, 10])
        #expect(try await cats.find().distinct(\.tags) == ["a", "b"])
        #expect(try await cats.find().distinct(\.toys) == [3, 5, 7])
        #expect(try await cats.find().distinct(\.color) == ["black", "white"])
    }

    @Test("Invalid aggregates are errors")
    func mistakes() throws {
        #expect(throws: TansuError.self) { try cats.find().aggregate(.max(\.name.count)) }
        #expect(throws: TansuError.self) { try cats.find().groups(by: \.name.isEmpty, .count) }
        #expect(throws: TansuError.self) { try cats.find().fields(["name": 1]).aggregate(.count) }
    }
}
