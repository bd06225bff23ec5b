#if TansuSync
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Mango: properties of random selectors")
struct SelectorPropertyTests {
    private let seed = SeededGenerator.seed()

    @Test("A selector matches what a naive evaluator of its JSON matches")
    func naive() throws {
        let naive = NaiveSelector(collation: try Collation.shared())
        var random = RandomSelectors(random: SeededGenerator(seed: seed))
        var matched = 0
        for _ in 0..<1500 {
            let documents = random.documents(12)
            let json = random.selector()
            let selector = try Mango.Selector(json)
            for document in documents {
                let result = try selector.matches(document)
                let expected = try naive.matches(json, document)
                #expect(result == expected, "seed \(seed): \(json.extendedJSON()) \(document.extendedJSON())")
                matched += result ? 1 : 0
            }
        }
        // Neither nothing nor everything.
        #expect((1000..<17000).contains(matched))
    }

    @Test("A normalised selector is normalised again to itself, and twice negated it matches the same")
    func normalForm() throws {
        var random = RandomSelectors(random: SeededGenerator(seed: seed))
        for _ in 0..<1000 {
            let json = random.selector()
            let selector = try Mango.Selector(json)
            let again = try Mango.Selector(selector.json)
            #expect(again.json == selector.json, "seed \(seed): \(json.extendedJSON())")
            let twice = try Mango.Selector(["$not": ["$not": .document(json)]])
            #expect(twice.json == selector.json, "seed \(seed): \(json.extendedJSON())")
        }
    }

    @Test("Where a document has all fields of a selector, it matches the selector or its negation")
    func negation() throws {
        var random = RandomSelectors(random: SeededGenerator(seed: seed), requiresFields: true)
        var checked = 0
        for _ in 0..<4000 {
            let json = random.selector()
            let selector = try Mango.Selector(json)
            let negated = try Mango.Selector(["$not": .document(json)])
            let nor = try Mango.Selector(["$nor": [.document(json)]])
            for document in random.documents(8) {
                let isNegated = try negated.matches(document)
                #expect(try nor.matches(document) == isNegated, "seed \(seed): \(json.extendedJSON())")
                let isComplete = try selector.fieldNames.allSatisfy { name in
                    if case .value = try Mango.FieldPath(name).found(in: .document(document)) {
                        true
                    } else {
                        false
                    }
                }
                guard isComplete else { continue }
                checked += 1
                let isMatch = try selector.matches(document)
                #expect(isMatch != isNegated, "seed \(seed): \(json.extendedJSON()) \(document.extendedJSON())")
            }
        }
        #expect(checked > 1000)
    }

    @Test("The ranges of a selector have the values of every document that matches")
    func ranges() throws {
        var random = RandomSelectors(random: SeededGenerator(seed: seed))
        var checked = 0
        for _ in 0..<3000 {
            var json = random.selector(depth: 1)
            if Int.random(in: 0..<4, using: &random.random) == 0 {
                json["b"] = ["$beginsWith": .string(RandomValues.texts.randomElement(using: &random.random) ?? "")]
            }
            let selector = try Mango.Selector(json)
            let documents = random.documents(12)
            // Ids are not compared by the collation.
            for field in selector.fieldNames where field != "_id" {
                let range = try selector.range(of: field)
                for document in documents where try selector.matches(document) {
                    guard case .value(let value) = try Mango.FieldPath(field).found(in: .document(document)) else {
                        continue
                    }
                    checked += 1
                    let isInside = try range?.contains(value) ?? false
                    #expect(isInside, "seed \(seed): \(json.extendedJSON()) \(document.extendedJSON())")
                }
            }
        }
        #expect(checked > 500)
    }

    @Test("Indexes change the order of an answer, but not what is in it")
    func indexes() throws {
        var random = RandomSelectors(random: SeededGenerator(seed: seed))
        var served = 0
        for _ in 0..<800 {
            let json = random.selector(depth: 2)
            let documents = random.documents(20)
            var indexes: [Mango.Index] = []
            for number in 0..<3 {
                let fields = RandomSelectors.paths.shuffled(using: &random.random).prefix(1 + number / 2)
                indexes.append(
                    try Mango.Index(
                        designDocument: "_design/\(number)", name: "i",
                        definition: ["fields": .array(BSONArray(fields.map { .string($0) }))]))
            }
            let query = try Mango.Query(["selector": .document(json)])
            let plain = try query.answer(documents, indexes: [])
            let indexed = try query.answer(documents, indexes: indexes)
            served += try Mango.Plan(query, indexes: indexes).usableIndex() == .allDocuments() ? 0 : 1
            let ids = { (answer: Mango.Answer) in Set(answer.documents.compactMap { $0["_id"]?.stringValue }) }
            #expect(ids(plain) == ids(indexed), "seed \(seed): \(json.extendedJSON())")
        }
        #expect(served > 50)
    }
}
#endif
