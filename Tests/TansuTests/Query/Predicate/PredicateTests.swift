import Foundation
import Tansu
import Testing

@Suite("Predicates")
struct PredicateTests {
    private let samples: Database.Collection<Sample>

    init() throws {
        samples = try Database(.memory).collection("samples", of: Sample.self)
    }

    @Test("A predicate becomes the document that people would write")
    @available(macOS 14, *)
    func documents() throws {
        #expect(
            try samples.find(#Predicate { $0.whole > 3 && $0.inner?.text == "a" }).filter
                == ["whole": ["$gt": 3], "inner.t": "a"])
        #expect(try samples.find(#Predicate { $0.id == 3 }).filter == ["_id": 3])
        #expect(
            try samples.find(#Predicate { $0.tags.contains("a") || $0.maybeKind == nil }).filter
                == ["$or": [["tags": "a"], ["maybeKind": nil]]])
        #expect(try samples.find(.true).filter == [:])
        #expect(try samples.find(.false).count() == 0)
    }

    @Test("The first element of an array")
    @available(macOS 14, *)
    func first() throws {
        struct Listed: Codable, Sendable {
            var id: Int
            var list: [Int]
            var maybe: [String]?
            var set: Set<Int> = []
        }
        let all = try Database(.memory).collection("all", of: Listed.self)
        try all.save([Listed(id: 1, list: [1, 2], maybe: ["a"]), Listed(id: 2, list: [2, 1])])
        try all.save(Listed(id: 3, list: []))
        #expect(try all.find(#Predicate { $0.list.first == 1 }).all().map(\.id) == [1])
        #expect(try all.find(#Predicate { $0.list.first != 1 }).all().map(\.id) == [2, 3])
        #expect(try all.find(#Predicate { $0.list.first == nil }).all().map(\.id) == [3])
        #expect(try all.find(#Predicate { $0.maybe?.first == "a" }).all().map(\.id) == [1])
        #expect(throws: TansuError.self) { try all.find(#Predicate { $0.set.first == 1 }) }
    }

    @Test("Several predicates, conditions and documents are joined by and")
    @available(macOS 14, *)
    func composition() throws {
        struct Small: Codable, Sendable {
            var id: Int
            var whole: Int
            var text: String
        }
        let smalls = try Database(.memory).collection("smalls", of: Small.self)
        try smalls.save((0..<20).map { Small(id: $0, whole: $0 % 7, text: "t\($0 % 3)") })
        let many = try smalls.find(#Predicate { $0.whole > 1 && $0.whole < 6 && $0.id != 3 && $0.id != 4 })
            .and(#Predicate { $0.id != 5 && $0.id != 9 && $0.id != 10 && $0.text == "t1" })
            .and { $0.id < 18 }
            .and(["whole": ["$ne": 3]])
        let expected = (0..<18).filter {
            (2..<6).contains($0 % 7) && ![3, 4, 5, 9, 10].contains($0) && $0 % 3 == 1 && $0 % 7 != 3
        }
        #expect(try many.sorted(by: \.id).all().map(\.id) == expected)
        #expect(!expected.isEmpty)
        #expect(try samples.find([:]).and(#Predicate { $0.id == 3 }).filter == ["_id": 3])
        #expect(samples.find(["_id": 3]).and([:]).filter == ["_id": 3])
        #expect(
            samples.find(["_id": 3, "$do": ["a": ["$join": "b"]]]).and(["whole": 1]).filter
                == ["$and": [["_id": 3], ["whole": 1]], "$do": ["a": ["$join": "b"]]])
    }

    @Test("A constant array may be asked about the document's fields")
    @available(macOS 14, *)
    func constantArrays() throws {
        let names = ["a", "b"]
        #expect(
            try samples.find(#Predicate { sample in names.contains { $0 == sample.text } }).filter
                == ["$or": [["text": "a"], ["text": "b"]]])
        #expect(
            try samples.find(#Predicate { sample in names.allSatisfy { $0 != sample.text } }).filter
                == ["$and": [["text": ["$ne": "a"]], ["text": ["$ne": "b"]]]])
    }

    @Test("What a query cannot express is an error that names the expression")
    @available(macOS 14, *)
    func refusals() throws {
        let index = 0
        let (one, largest) = (1, Int.max)
        func rejected(_ name: String, _ predicate: Predicate<Sample>, sourceLocation: SourceLocation = #_sourceLocation)
        {
            let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) {
                try samples.find(predicate)
            }
            #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
            #expect(
                error?.message.contains(name) == true, "\(String(describing: error))", sourceLocation: sourceLocation)
        }
        rejected("Comparison", #Predicate { $0.whole > $0.id })
        rejected("CollectionIndexSubscript", #Predicate { $0.inners[index].text == "a" })
        rejected("KeyPath", #Predicate { $0.text.count > 3 })
        rejected("KeyPath", #Predicate { $0.inners.last == nil })
        rejected("SequenceMinimum", #Predicate { $0.tags.min() == "a" })
        rejected("StringContainsRegex", #Predicate { $0.text.contains(/a.b/) })
        rejected("Arithmetic", #Predicate { $0.part + 1 > 3 })
        rejected("Arithmetic", #Predicate { $0.whole * one > 3 })
        rejected("Arithmetic", #Predicate { $0.whole > one + largest })
        rejected("IntDivision", #Predicate { $0.whole / one == 3 })
        rejected("CollectionContainsCollection", #Predicate { $0.text.contains($0.text) })
        rejected("SequenceContainsWhere", #Predicate { $0.map.contains { $0.value == 3 } })
        rejected("outside", #Predicate { sample in sample.inners.contains { $0.text == "a" && sample.whole == 1 } })
        let range = 0..<Int.max
        rejected("SequenceContainsWhere", #Predicate { sample in range.contains { $0 == sample.whole } })
        let inner = Sample.Inner(text: "a")
        rejected("Equal", #Predicate { $0.inner == inner })
        rejected("100", #Predicate { $0.tags.count > 1000 })
    }
}
