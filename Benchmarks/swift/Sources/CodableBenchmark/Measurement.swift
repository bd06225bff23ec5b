import CAllocations
import Foundation

/// One implementation of a row's work, with the times of its runs.
final class Variant {
    let name: String
    private let work: () throws -> Int
    private(set) var nanoseconds: [Double] = []
    private(set) var allocations = 0.0

    /// - Parameter work: Does the work once, and returns something that depends on all of its result.
    init(_ name: String, _ work: @escaping () throws -> Int) {
        self.name = name
        self.work = work
    }

    /// The number of repetitions for a run of a given duration.
    func calibrated(to wanted: Double) throws -> Int {
        var times = 16
        while try measure(times) < wanted, times < 1 << 26 { times *= 2 }
        return times
    }

    func run(times: Int) throws {
        let before = allocations_so_far()
        let elapsed = try measure(times)
        allocations = Double(allocations_so_far() - before) / Double(times)
        nanoseconds.append(elapsed / Double(times))
    }

    /// The processor time of the work in nanoseconds, which other processes affect less than wall-clock time.
    private func measure(_ times: Int) throws -> Double {
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

/// The sum of all results, so that the compiler does not remove the work.
nonisolated(unsafe) var sink = 0

/// Variants of the same work, which are compared with the first of them.
struct Row {
    var name: String
    var goal: Double?
    var variants: [Variant]

    /// The runs of the variants are interleaved, so that a slower phase of the machine affects all of them.
    func measure(repetitions: Int, nanoseconds: Double) throws {
        let times = try variants.map { try $0.calibrated(to: nanoseconds) }
        for _ in 0..<repetitions {
            for (variant, times) in zip(variants, times) { try variant.run(times: times) }
        }
    }

    func printTable() {
        func column(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        for variant in variants {
            let ratios = zip(variant.nanoseconds, variants[0].nanoseconds).map { $0 / $1 }
            let counted = allocations_are_counted() ? String(format: "%.1f", variant.allocations) : "?"
            print(
                name.padding(toLength: 16, withPad: " ", startingAt: 0),
                variant.name.padding(toLength: 14, withPad: " ", startingAt: 0),
                column(String(format: "%.0f ns", variant.median), 10), column(counted, 8),
                column(String(format: "%.2f", variant.median / variants[0].median), 7),
                column(String(format: "%.2f", ratios.max() ?? 0), 7),
                column(variant.name.hasPrefix("BSON") ? goal.map { String(format: "%.1f", $0) } ?? "" : "", 6))
        }
    }
}
