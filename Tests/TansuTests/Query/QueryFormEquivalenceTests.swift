import Foundation
import Tansu
import TansuTestSupport
import Testing

/// One question, asked in each way that there is for it.
@available(macOS 14, *)
private struct Question {
    let name: String
    let swift: (Sample) -> Bool
    let literal: BSONDocument?
    let condition: (Database.Field<Sample>) -> Database.Condition
    let predicate: Predicate<Sample>

    init(
        _ name: String, _ swift: @escaping (Sample) -> Bool, _ literal: BSONDocument? = nil,
        _ condition: @escaping (Database.Field<Sample>) -> Database.Condition, _ predicate: Predicate<Sample>
    ) {
        self.name = name
        self.swift = swift
        self.literal = literal
        self.condition = condition
        self.predicate = predicate
    }
}

@Suite("Literals, key paths and predicates are equivalent")
struct QueryFormEquivalenceTests {
    @available(macOS 14, *)
    private static func numbers(_ maker: inout Maker) -> [Question] {
        let (n, m, d) = (maker.whole(), maker.whole(), maker.part())
        let list = maker.list { $0.whole() }
        let (low, high) = (min(n, m), max(n, m))
        return [
            Question("==", { $0.whole == n }, ["whole": BSONValue(n)], { $0.whole == n }, #Predicate { $0.whole == n }),
            Question(
                "optional !=", { $0.maybeWhole != n }, ["w?": ["$ne": BSONValue(n)]], { $0.maybeWhole != n },
                #Predicate { $0.maybeWhole != n }),
            Question(
                "optional nil", { $0.maybeWhole == nil }, ["w?": nil], { $0.maybeWhole == nil },
                #Predicate { $0.maybeWhole == nil }),
            Question(
                "optional <", { ($0.maybeWhole).map { $0 < n } ?? false }, ["w?": ["$lt": BSONValue(n)]],
                { $0.maybeWhole < n }, #Predicate { if let w = $0.maybeWhole { w < n } else { false } }),
            Question(
                "coalesced", { ($0.maybeWhole ?? m) >= n }, nil,
                { $0.maybeWhole >= n || $0.maybeWhole == (m >= n ? nil : n) }, #Predicate { ($0.maybeWhole ?? m) >= n }),
            Question(
                "double <", { $0.part < d },
                d.isNaN ? nil : ["part": ["$lt": .double(d), "$gte": .double(-.infinity)]],
                { $0.part < d }, #Predicate { $0.part < d }),
            Question(
                "not double <=", { !($0.part <= d) }, nil, { !($0.part <= d) }, #Predicate { !($0.part <= d) }),
            Question("double ==", { $0.part == d }, nil, { $0.part == d }, #Predicate { $0.part == d }),
            Question("double !=", { $0.maybePart != d }, nil, { $0.maybePart != d }, #Predicate { $0.maybePart != d }),
            Question("double >=", { $0.part >= d }, nil, { $0.part >= d }, #Predicate { $0.part >= d }),
            Question(
                "in", { list.contains($0.whole) }, ["whole": ["$in": BSONValue(list.map { BSONValue($0) })]],
                { $0.whole.in(list) }, #Predicate { list.contains($0.whole) }),
            Question(
                "range", { (low..<high).contains($0.whole) }, nil, { $0.whole.in(low..<high) },
                #Predicate { (low..<high).contains($0.whole) }),
            Question(
                "closed range", { (low...high).contains($0.whole) },
                ["whole": ["$bt": [BSONValue(low), BSONValue(high)]]],
                { $0.whole.between(low, high) }, #Predicate { (low...high).contains($0.whole) }),
        ]
    }

    @available(macOS 14, *)
    private static func arithmetic(_ maker: inout Maker) -> [Question] {
        let (n, k) = (maker.pick([-3, -1, 0, 2]), maker.pick([1, 2, 5]))
        return [
            Question("sum", { $0.whole + k > n }, nil, { $0.whole > n - k }, #Predicate { $0.whole + k > n }),
            Question("difference", { k - $0.whole > n }, nil, { $0.whole < k - n }, #Predicate { k - $0.whole > n }),
            Question("minus", { -$0.whole <= n }, nil, { $0.whole >= -n }, #Predicate { -$0.whole <= n }),
            Question(
                "remainder", { $0.whole % k == n }, ["whole": ["$mod": [BSONValue(k), BSONValue(n)]]],
                { field in
                    [-7, -3, -1, 0, 1, 2, 3, 4, 1 << 40].filter { $0 % k == n }.map { field.whole == $0 }.reduce(
                        field.id < 0
                    ) { $0 || $1 }
                },
                #Predicate { $0.whole % k == n }),
            Question(
                "constants", { $0.whole * 1 > n * k + 1 }, nil, { $0.whole > n * k + 1 },
                #Predicate { $0.whole > n * k + 1 }),
            Question(
                "conditional", { ($0.flag ? n : k) == 2 }, nil,
                {
                    ($0.flag == true && $0.id < (n == 2 ? 1 << 30 : -1))
                        || ($0.flag == false && $0.id < (k == 2 ? 1 << 30 : -1))
                },
                #Predicate { ($0.flag ? n : k) == 2 }),
        ]
    }

    @available(macOS 14, *)
    private static func texts(_ maker: inout Maker) -> [Question] {
        let (s, u) = (maker.text(), maker.maybe { $0.text() })
        let (kind, date, b) = (maker.kind(), maker.date(), maker.flag())
        return [
            Question("text ==", { $0.text == s }, ["text": .string(s)], { $0.text == s }, #Predicate { $0.text == s }),
            Question(
                "text <", { $0.text < s }, ["text": ["$lt": .string(s)]], { $0.text < s }, #Predicate { $0.text < s }),
            Question(
                "text == optional", { $0.maybeText == u }, ["x\\.y": u.map { .string($0) } ?? .null],
                { $0.maybeText == u }, #Predicate { $0.maybeText == u }),
            Question(
                "prefix", { $0.text.hasPrefix(s) }, ["text": ["$begin": .string(s)]], { $0.text.hasPrefix(s) },
                #Predicate { $0.text.starts(with: s) }),
            Question(
                // Foundation finds no empty text in another, the standard library does.
                "not contains", { $0.maybeText.map { !$0.contains(s) && !s.isEmpty } ?? true },
                ["x\\.y": ["$not": ["$contains": .string(s)]]], { !$0.maybeText.contains(s) },
                #Predicate { !($0.maybeText?.contains(s) ?? false) }),
            Question(
                "empty", { $0.text.isEmpty }, ["text": ""], { $0.text == "" }, #Predicate { $0.text.isEmpty }),
            Question(
                "enum", { $0.kind == kind }, ["kind": .string(kind.rawValue)], { $0.kind == kind },
                #Predicate { $0.kind == kind }),
            Question(
                "optional enum", { $0.maybeKind != kind }, ["maybeKind": ["$ne": .string(kind.rawValue)]],
                { $0.maybeKind != kind }, #Predicate { $0.maybeKind != kind }),
            Question("flag", { $0.flag }, ["flag": true], { $0.flag == true }, #Predicate { $0.flag }),
            Question(
                "optional flag", { ($0.maybeFlag ?? b) }, nil,
                { $0.maybeFlag == true || $0.maybeFlag == (b ? nil : true) },
                #Predicate { $0.maybeFlag ?? b }),
            Question(
                "flags", { ($0.text == s) == $0.flag }, nil,
                { ($0.text == s && $0.flag == true) || ($0.text != s && $0.flag == false) },
                #Predicate { ($0.text == s) == $0.flag }),
            Question(
                "date", { $0.when >= date }, ["when": ["$gte": .date(date)]], { $0.when >= date },
                #Predicate { $0.when >= date }),
        ]
    }

    @available(macOS 14, *)
    private static func inside(_ maker: inout Maker) -> [Question] {
        let (n, s) = (maker.whole(), maker.text())
        return [
            Question(
                "chained", { $0.inner?.text == s }, ["inner.t": .string(s)], { $0.inner.text == s },
                #Predicate { $0.inner?.text == s }),
            Question(
                "chained !=", { $0.inner?.number != n }, ["inner.number": ["$ne": BSONValue(n)]],
                { $0.inner.number != n }, #Predicate { $0.inner?.number != n }),
            Question(
                "chained coalesced", { ($0.inner?.number ?? n) < 2 }, nil,
                { $0.inner.number < 2 || ($0.inner.number == nil && $0.id < (n < 2 ? 1 << 30 : -1)) },
                #Predicate { ($0.inner?.number ?? n) < 2 }),
            Question(
                "nested optional nil", { $0.inner?.list == nil }, ["inner.list": nil], { $0.inner.list == nil },
                #Predicate { $0.inner?.list == nil }),
            Question(
                "unwrapped", { if let inner = $0.inner { inner.text < s } else { true } }, nil,
                { $0.inner.text < s || $0.inner == nil },
                #Predicate { if let inner = $0.inner { inner.text < s } else { true } }),
            Question(
                "dictionary", { $0.map["b.c"] == n }, ["map.b\\.c": BSONValue(n)], { $0.map["b.c"] == n },
                #Predicate { $0.map["b.c"] == n }),
            Question(
                "dictionary default", { $0.map["0", default: 1] > n }, nil,
                { $0.map["0"] > n || ($0.map["0"] == nil && $0.id < (1 > n ? 1 << 30 : -1)) },
                #Predicate { $0.map["0", default: 1] > n }),
        ]
    }

    @available(macOS 14, *)
    private static func arrays(_ maker: inout Maker) -> [Question] {
        let (n, s, c) = (maker.whole(), maker.text(), maker.pick([-1, 0, 1, 2, 3]))
        return [
            Question(
                "contains", { $0.tags.contains(s) }, ["tags": .string(s)], { $0.tags.contains(s) },
                #Predicate { $0.tags.contains(s) }),
            Question(
                "not contains", { !$0.tags.contains(s) }, ["tags": ["$ne": .string(s)]], { !$0.tags.contains(s) },
                #Predicate { !$0.tags.contains(s) }),
            Question(
                "optional contains", { $0.maybeNumbers?.contains(n) == true }, ["maybeNumbers": BSONValue(n)],
                { $0.maybeNumbers.contains(n) }, #Predicate { $0.maybeNumbers?.contains(n) == true }),
            Question(
                "count", { $0.inners.count > c }, nil, { $0.inners.count > c }, #Predicate { $0.inners.count > c }),
            Question(
                "optional count", { $0.maybeNumbers?.count != c }, nil, { $0.maybeNumbers.count != c },
                #Predicate { $0.maybeNumbers?.count != c }),
            Question(
                "isEmpty", { $0.inners.isEmpty }, ["inners": ["$size": 0]], { $0.inners.isEmpty },
                #Predicate { $0.inners.isEmpty }),
            Question(
                "contains where", { $0.inners.contains { $0.text == s && $0.number != n } },
                ["inners": ["$elemMatch": ["t": .string(s), "number": ["$ne": BSONValue(n)]]]],
                { $0.inners.contains { $0.text == s && $0.number != n } },
                #Predicate { $0.inners.contains { $0.text == s && $0.number != n } }),
            Question(
                "contains of values", { $0.tags.contains { $0 < s || $0 == "b" } }, nil,
                { $0.tags.contains { $0 < s || $0 == "b" } }, #Predicate { $0.tags.contains { $0 < s || $0 == "b" } }),
            Question(
                "allSatisfy", { $0.inners.allSatisfy { $0.number == nil || $0.text < s } }, nil,
                { $0.inners.allSatisfy { $0.number == nil || $0.text < s } },
                #Predicate { $0.inners.allSatisfy { $0.number == nil || $0.text < s } }),
            Question(
                "not allSatisfy", { !($0.maybeNumbers?.allSatisfy { $0 > n } ?? false) }, nil,
                { !$0.maybeNumbers.allSatisfy { $0 > n } },
                #Predicate { !($0.maybeNumbers?.allSatisfy { $0 > n } ?? false) }),
            Question(
                "in arrays", { $0.inners.contains { $0.list?.contains(n) ?? false } },
                ["inners": ["$elemMatch": ["list": BSONValue(n)]]], { $0.inners.contains { $0.list.contains(n) } },
                #Predicate { $0.inners.contains { $0.list?.contains(n) ?? false } }),
            Question(
                "filter", { $0.inners.filter { $0.text == s }.isEmpty }, nil,
                { !$0.inners.contains { $0.text == s } }, #Predicate { $0.inners.filter { $0.text == s }.isEmpty }),
        ]
    }

    @Test("Closure, literal, key paths and predicate select the same documents")
    @available(macOS 14, *)
    func agree() throws {
        let seed = SeededGenerator.seed()
        print("three ways: TANSU_SEED=\(seed)")
        var maker = Maker(generator: SeededGenerator(seed: seed))
        for round in 0..<12 {
            let samples = (0..<40).map { maker.sample($0) }
            let collection = try Database(.memory).collection("samples", of: Sample.self)
            try collection.save(samples)
            if round % 2 == 1 {
                try collection.ensureIndex(on: ["whole": .ascending])
                try collection.ensureIndex(on: ["tags": .ascending, "text": .descending])
                try collection.ensureIndex(on: ["inner.t": .ascending], sparse: true)
            }
            let questions =
                Self.numbers(&maker) + Self.arithmetic(&maker) + Self.texts(&maker) + Self.inside(&maker)
                + Self.arrays(&maker)
            for question in questions { try check(question, samples, collection, seed) }
            for _ in 0..<30 {
                let question = try combined(questions, &maker, depth: 3)
                #expect(
                    try collection.find(question.condition).all().map(\.id) == samples.filter(question.swift).map(\.id),
                    "\(question.name), seed \(seed)")
            }
        }
    }

    @available(macOS 14, *)
    private func check(
        _ question: Question, _ samples: [Sample], _ collection: Database.Collection<Sample>, _ seed: UInt64
    ) throws {
        let wanted = samples.filter(question.swift).map(\.id)
        let evaluated = try samples.filter { try question.predicate.evaluate($0) }.map(\.id)
        #expect(evaluated == wanted, "the test itself: \(question.name), seed \(seed)")
        let built = try collection.find(question.condition)
        #expect(try built.all().map(\.id) == wanted, "key paths: \(question.name) \(built.filter), seed \(seed)")
        let bridged = try collection.find(question.predicate)
        #expect(try bridged.all().map(\.id) == wanted, "predicate: \(question.name) \(bridged.filter), seed \(seed)")
        if let literal = question.literal {
            #expect(
                try collection.find(literal).all().map(\.id) == wanted,
                "literal: \(question.name) \(literal), seed \(seed)")
        }
    }

    private struct Combined {
        let name: String
        let swift: (Sample) -> Bool
        let condition: (Database.Field<Sample>) -> Database.Condition
    }

    @available(macOS 14, *)
    private func combined(_ questions: [Question], _ maker: inout Maker, depth: Int) throws -> Combined {
        let kind = depth == 0 ? 0 : maker.pick([0, 1, 2, 3])
        if kind == 0 {
            let question = maker.pick(questions)
            return Combined(name: question.name, swift: question.swift, condition: question.condition)
        }
        let a = try combined(questions, &maker, depth: depth - 1)
        if kind == 1 {
            return Combined(name: "!(\(a.name))", swift: { !a.swift($0) }, condition: { !a.condition($0) })
        }
        let b = try combined(questions, &maker, depth: depth - 1)
        if kind == 2 {
            return Combined(
                name: "(\(a.name) && \(b.name))", swift: { a.swift($0) && b.swift($0) },
                condition: { a.condition($0) && b.condition($0) })
        }
        return Combined(
            name: "(\(a.name) || \(b.name))", swift: { a.swift($0) || b.swift($0) },
            condition: { a.condition($0) || b.condition($0) })
    }
}
