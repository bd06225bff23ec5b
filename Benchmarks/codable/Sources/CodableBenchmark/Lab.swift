import CAllocations
import Foundation

/// One of the ways to do a row's work, with the times of its runs.
final class Way {
    let name: String
    private let work: () throws -> Int
    private(set) var nanoseconds: [Double] = []
    private(set) var allocations = 0.0

    /// - Parameter work: Does the work once, and returns something that depends on all of its result.
    init(_ name: String, _ work: @escaping () throws -> Int) {
        self.name = name
        self.work = work
    }

    /// How often the work has to be repeated for a run of a wanted length.
    func calibrated(to wanted: Double) throws -> Int {
        var times = 16
        while try took(times) < wanted, times < 1 << 26 { times *= 2 }
        return times
    }

    func run(times: Int) throws {
        let before = allocations_so_far()
        let took = try took(times)
        allocations = Double(allocations_so_far() - before) / Double(times)
        nanoseconds.append(took / Double(times))
    }

    /// The nanoseconds that the work takes: of the processor, not of the clock on the wall, because others work too.
    private func took(_ times: Int) throws -> Double {
        let start = processorTime()
        for _ in 0..<times { sink &+= try work() }
        return processorTime() - start
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    var median: Double { nanoseconds.sorted()[nanoseconds.count / 2] }
}

/// Where results go, so that no compiler takes the work for useless.
nonisolated(unsafe) var sink = 0

/// Ways that do the same work and are compared with the first of them.
struct Row {
    var name: String
    var goal: Double?
    var ways: [Way]

    /// The ways take turns, so that a machine that gets slower meanwhile slows all of them.
    func measure(repetitions: Int, nanoseconds: Double) throws {
        let times = try ways.map { try $0.calibrated(to: nanoseconds) }
        for _ in 0..<repetitions {
            for (way, times) in zip(ways, times) { try way.run(times: times) }
        }
    }

    func printTable() {
        func column(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        for way in ways {
            let ratios = zip(way.nanoseconds, ways[0].nanoseconds).map { $0 / $1 }
            let counted = allocations_are_counted() ? String(format: "%.1f", way.allocations) : "?"
            print(
                name.padding(toLength: 16, withPad: " ", startingAt: 0),
                way.name.padding(toLength: 14, withPad: " ", startingAt: 0),
                column(String(format: "%.0f ns", way.median), 10), column(counted, 8),
                column(String(format: "%.2f", way.median / ways[0].median), 7),
                column(String(format: "%.2f", ratios.max() ?? 0), 7),
                column(way.name.hasPrefix("BSON") ? goal.map { String(format: "%.1f", $0) } ?? "" : "", 6))
        }
    }
}
