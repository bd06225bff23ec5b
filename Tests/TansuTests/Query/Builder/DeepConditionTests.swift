import Foundation
import Tansu
import Testing

@Suite("Conditions that are nested deep")
struct DeepConditionTests {
    struct Pair: Codable, Sendable, Identifiable {
        var id: Int
        var a: Int
        var b: Int = 0
    }

    typealias Step = @Sendable (Database.Condition, Database.Field<Pair>, Int) -> Database.Condition

    private static let alternating: Step = { inner, pair, level in (inner || pair.a == level) && pair.b == level }
    private static let negated: Step = { inner, pair, level in !(inner && pair.a != level) }
    private static let mixed: Step = { inner, pair, level in !(inner || pair.a == level) && pair.b < level }

    private let pairs: Database.Collection<Pair>

    init() throws {
        pairs = try Database(.memory).collection("pairs", of: Pair.self)
        try pairs.save((0..<200).map { Pair(id: $0, a: $0) })
    }

    /// The number of documents that a condition of so many levels finds.
    private func count(_ levels: Int, _ step: Step) throws -> Int {
        try pairs.find { pair in (0..<levels).reduce(pair.a == -1) { step($0, pair, $1) } }.count()
    }

    /// Runs the closure on a thread with the stack that threads have by default on Apple's systems.
    private func onSmallStack<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: body)) }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }

    @Test("Any number of levels is an error or works", arguments: [0, 1, 2], [150, 1000, 5000, 100_000])
    func manyLevels(kind: Int, levels: Int) async throws {
        let step = [Self.alternating, Self.negated, Self.mixed][kind]
        let error = await #expect(throws: TansuError.self) {
            try await onSmallStack { try count(levels, step) }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("As many levels as a query document has find what they say")
    func fewLevels() async throws {
        let found = try await onSmallStack { try count(95, Self.negated) }
        // The values of every second level are let through by those around it.
        let expected = (0..<200).filter { a in (0..<95).reduce(false) { !($0 && a != $1) } }.count
        #expect(found == expected)
        #expect(try count(40, Self.alternating) == 0)
    }

    @Test("A query document of many levels is an error, also where values are stored in a form of their own")
    func documents() async throws {
        let texts = try Database(.memory).collection(
            "pairs", of: Pair.self, coding: BSONCodingStrategies(date: .iso8601))
        var query: BSONDocument = ["a": 1]
        for _ in 0..<3000 { query = ["$not": .document(query)] }
        let error = await #expect(throws: TansuError.self) {
            try await onSmallStack { [query] in try texts.find(query).count() }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("A condition that is joined with many others is not deep")
    func manyConditions() throws {
        let query = try pairs.find { pair in (0..<2000).reduce(pair.a == -1) { $0 || pair.a == $1 } }
        #expect(try query.count() == 200)
    }
}
