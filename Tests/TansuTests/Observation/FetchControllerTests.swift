import TansuTestSupport
import Testing

@testable import Tansu

#if canImport(Observation)
import Observation

/// What a table view of the controller shows: each update is applied as a batch of its steps.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
private final class Screen {
    typealias Controller = Database.FetchController<Int, BSONDocument>

    private(set) var sections: [Database.ListSection<Int, BSONDocument>] = []
    private(set) var problems: [String] = []
    private(set) var updates = 0

    func show(_ controller: Controller) {
        controller.onUpdate = { [unowned self] in apply($0) }
    }

    private func apply(_ controller: Controller) {
        updates += 1
        let view = TableView(controller.changes)
        problems += view.problems
        let shown = view.applied(to: sections, of: controller.sections)
        if shown != controller.sections.map({ $0.elements.map(Optional.some) }) {
            problems.append("shows \(shown), not \(controller.sections)")
        }
        sections = controller.sections
    }

    var ids: [Int] { sections.flatMap(\.elements).compactMap { $0["_id"]?.intValue } }
}

@Suite("A query as a list on a screen", .timeLimit(.minutes(20)))
@MainActor
struct FetchControllerTests {
    /// Documents `{_id, s: _id % 3, n: 0}`.
    private func numbers(_ count: Int) throws -> (Database, Database.Collection<BSONDocument>) {
        let db = try patientDatabase()
        let numbers = try db.collection("numbers")
        try numbers.save((0..<count).map { ["_id": BSONValue($0), "s": BSONValue($0 % 3), "n": 0] })
        return (db, numbers)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    private func settled<Section, Element>(_ list: Database.FetchController<Section, Element>) async {
        while list.isLoading { await Task.yield() }
    }

    @Test("Loads a page at a time, up to the limit of the query")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func pages() async throws {
        let (_, numbers) = try numbers(25)
        let list = Database.FetchController(numbers.find().sorted(by: "_id"), pageSize: 10)
        #expect(list.isLoading && list.sections.isEmpty && !list.hasMore)
        list.loadMore()
        await settled(list)
        #expect(list.elements.count == 10 && list.hasMore && list.changes == [.sectionInserted(at: 0)])
        list.loadMore()
        list.loadMore()  // while one is being loaded
        await settled(list)
        #expect(list.elements.count == 20 && list.hasMore && list.sections.count == 1)
        #expect(list.changes == (10..<20).map { .inserted(at: .init(section: 0, item: $0)) })
        list.loadMore()
        await settled(list)
        #expect(list.elements.count == 25 && !list.hasMore)
        list.loadMore()
        #expect(!list.isLoading)

        for (limit, loaded) in [(0, 0), (5, 5), (10, 10), (12, 12), (25, 20), (99, 20)] {
            let limited = Database.FetchController(numbers.find().sorted(by: "_id").limit(limit), pageSize: 10)
            await settled(limited)
            #expect(limited.elements.count == min(10, limit) && limited.hasMore == (limit > 10))
            limited.loadMore()
            await settled(limited)
            #expect(limited.elements.count == loaded)
        }
    }

    @Test("Another query keeps what both have, by steps")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func anotherQuery() async throws {
        let (_, numbers) = try numbers(6)
        let list = Database.FetchController(numbers.find().sorted(by: "_id"), pageSize: 3)
        await settled(list)
        list.loadMore()
        await settled(list)
        #expect(list.elements.count == 6 && !list.hasMore)
        list.query = numbers.find(["_id": ["$gte": 1]]).sorted(by: "_id")
        #expect(list.isLoading && list.elements.count == 6)
        await settled(list)
        #expect(list.elements.map { $0["_id"] } == [1, 2, 3] && list.hasMore)
        #expect(list.changes == [5, 4, 0].map { .removed(at: .init(section: 0, item: $0)) })
        // Two at once: the last one counts.
        list.query = numbers.find(["_id": 99])
        list.query = numbers.find(["_id": 5])
        await settled(list)
        #expect(list.elements.map { $0["_id"] } == [5])
    }

    @Test("Reports errors and goes on, and observes until it is stopped or released")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func errors() async throws {
        let (db, numbers) = try numbers(3)
        var list: Database.FetchController? = Database.FetchController(
            numbers.find(["_id": ["$nonsense": 1]]), sectionedBy: "s")
        if let list {
            await settled(list)
            #expect((list.error as? TansuError)?.code == .invalidQuery && list.sections.isEmpty)
            list.query = numbers.find()
            await settled(list)
            #expect(list.error == nil && list.sections.map(\.value) == [0, 1, 2])
            list.stop()
            try await numbers.save(["_id": 9, "s": 9])
            list.loadMore()
            #expect(!list.isLoading && list.sections.count == 3)
        }
        while db.engine.openFeeds > 0 { await Task.yield() }
        list?.query = numbers.find()
        if let list { await settled(list) }
        #expect(list?.sections.count == 4)
        list = nil
        while db.engine.openFeeds > 0 { await Task.yield() }
        let malformed = Database.FetchController(numbers.find(), sectionedBy: "s..t")
        await settled(malformed)
        malformed.query = numbers.find(["_id": 1])
        await settled(malformed)
        #expect((malformed.error as? TansuError)?.code == .invalidQuery)
        try await db.close()
        let closed = Database.FetchController(numbers.find())
        await settled(closed)
        #expect((closed.error as? TansuError)?.code == .closed && closed.elements.isEmpty)
    }

    @Test("Notifies those that read what changed")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func notifications() async throws {
        let (_, numbers) = try numbers(3)
        let list = Database.FetchController(numbers.find().sorted(by: "_id"), pageSize: 4)
        let reads: [@MainActor () -> Void] = [
            { _ = list.elements }, { _ = list.changes }, { _ = list.hasMore }, { _ = list.isLoading },
            { _ = list.query },
        ]
        await settled(list)
        let told = Locked<Set<Int>>([])
        for (index, read) in reads.enumerated() {
            withObservationTracking {
                read()
            } onChange: {
                told.withLock { _ = $0.insert(index) }
            }
        }
        try await numbers.save([["_id": 7, "s": 0], ["_id": 8, "s": 0]])
        while list.elements.count < 4 { await Task.yield() }
        #expect(told.withLock { $0 } == [0, 1, 2])
        list.query = numbers.find(["_id": 7])
        #expect(told.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test("Its steps lead a table view through every state", arguments: [SeededGenerator.seed()])
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func steps(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (_, numbers) = try numbers(30)
        let order: [Database.SectionOrder<Int>] = [.ascending, .byFirstElement]
        let list = Database.FetchController(
            numbers.find().sorted(by: "n").sorted(by: "_id"), pageSize: 7, sectionedBy: { $0["s"]?.intValue ?? -1 },
            sorted: order[Int(seed % 2)])
        let screen = Screen()
        screen.show(list)
        for _ in 0..<60 {
            let id = BSONValue(Int.random(in: 0..<40, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0: list.loadMore()
            case 1: list.query = numbers.find(["_id": ["$gte": id]]).sorted(by: "n").sorted(by: "_id")
            case 2: list.query = numbers.find().sorted(by: "_id", .descending)
            case 3: try await numbers.remove(id: id)
            case 4: await settled(list)
            default:
                let (s, n) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<9, using: &random))
                try await numbers.save(["_id": id, "s": BSONValue(s), "n": BSONValue(n)])
            }
            if Bool.random(using: &random) { await Task.yield() }
        }
        list.query = numbers.find().sorted(by: "n").sorted(by: "_id")
        await settled(list)
        while list.hasMore {
            list.loadMore()
            await settled(list)
        }
        let all = try await numbers.find().sorted(by: "n").sorted(by: "_id").all()
        while screen.ids.count != all.count { await Task.yield() }
        #expect(screen.problems == [], "seed \(seed)")
        #expect(Set(screen.ids) == Set(all.compactMap { $0["_id"]?.intValue }) && screen.updates > 3)
    }
}
#endif
