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

    @Test("What a query cannot say is an error that names the expression")
    @available(macOS 14, *)
    func refusals() throws {
        let index = 0
        let (one, largest) = (1, Int.max)
        func refused(_ name: String, _ predicate: Predicate<Sample>, sourceLocation: SourceLocation = #_sourceLocation)
        {
            let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) {
                try samples.find(predicate)
            }
            #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
            #expect(
                error?.message.contains(name) == true, "\(String(describing: error))", sourceLocation: sourceLocation)
        }
        refused("Comparison", #Predicate { $0.whole > $0.id })
        refused("CollectionIndexSubscript", #Predicate { $0.inners[index].text == "a" })
        refused("KeyPath", #Predicate { $0.text.count > 3 })
        refused("KeyPath", #Predicate { $0.inners.first == nil })
        refused("SequenceMinimum", #Predicate { $0.tags.min() == "a" })
        refused("StringContainsRegex", #Predicate { $0.text.contains(/a.b/) })
        refused("Arithmetic", #Predicate { $0.part + 1 > 3 })
        refused("Arithmetic", #Predicate { $0.whole * one > 3 })
        refused("Arithmetic", #Predicate { $0.whole > one + largest })
        refused("IntDivision", #Predicate { $0.whole / one == 3 })
        refused("CollectionContainsCollection", #Predicate { $0.text.contains($0.text) })
        refused("SequenceContainsWhere", #Predicate { $0.map.contains { $0.value == 3 } })
        refused("outside", #Predicate { sample in sample.inners.contains { $0.text == "a" && sample.whole == 1 } })
        let range = 0..<Int.max
        refused("SequenceContainsWhere", #Predicate { sample in range.contains { $0 == sample.whole } })
        let inner = Sample.Inner(text: "a")
        refused("Equal", #Predicate { $0.inner == inner })
        refused("100", #Predicate { $0.tags.count > 1000 })
    }
}
