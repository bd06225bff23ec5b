import Foundation

/// The samples of a row.
struct Line {
    let row: Row
    var tansu: [Double] = []
    var grdb: [Double] = []

    /// GRDB's median divided by Tansu's: larger is better for Tansu.
    var ratio: Double { median(grdb) / median(tansu) }
    /// The lowest ratio of any pair of neighbouring runs.
    var leastRatio: Double { zip(grdb, tansu).map { $0 / $1 }.min() ?? 0 }
    var isCompared: Bool { !tansu.isEmpty && !grdb.isEmpty }
}

func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    return sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

enum Report {
    static let head =
        "".padded(to: 40) + "Tansu".aligned(to: 11) + "GRDB".aligned(to: 11) + " unit" + "ratio".aligned(to: 9)
        + "least".aligned(to: 9)

    /// One row of the table.
    static func text(_ line: Line) -> String {
        line.row.title.padded(to: 40) + column(line.tansu) + column(line.grdb) + " " + line.row.unit.padded(to: 4)
            + (line.isCompared ? String(format: "%9.2f%9.2f", line.ratio, line.leastRatio) : "")
    }

    private static func column(_ samples: [Double]) -> String {
        let value = median(samples)
        let digits = value < 10 ? 2 : value < 100 ? 1 : 0
        return samples.isEmpty ? "".padded(to: 11) : String(format: "%11.\(digits)f", value)
    }

    /// Everything as one JSON object, in the form of `Benchmarks/run --json`.
    static func json(_ lines: [Line], documents: Int, versions: KeyValuePairs<String, String>) -> String {
        let rows = lines.map { line in
            var fields = ["\"key\": \"\(line.row.key)\"", "\"title\": \"\(line.row.title)\""]
            fields.append("\"unit\": \"\(line.row.unit)\"")
            if !line.tansu.isEmpty { fields.append("\"tansu\": \(list(line.tansu))") }
            if !line.grdb.isEmpty { fields.append("\"grdb\": \(list(line.grdb))") }
            if line.isCompared {
                fields.append("\"ratio\": \(number(line.ratio)), \"leastRatio\": \(number(line.leastRatio))")
            }
            return "\n  {" + fields.joined(separator: ", ") + "}"
        }
        let versions = versions.map { "\"\($0)Version\": \"\($1)\", " }.joined()
        return "{\"machine\": \"\(machine())\", \"documents\": \(documents), \(versions)\"rows\": ["
            + rows.joined(separator: ",") + "\n]}"
    }

    private static func list(_ samples: [Double]) -> String {
        "[" + samples.map(number).joined(separator: ", ") + "]"
    }

    private static func number(_ value: Double) -> String { String(format: "%.6g", value) }

    /// The processor, cores and operating system.
    private static func machine() -> String {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) + ", " } ?? ""
        let process = ProcessInfo.processInfo
        let kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)).map {
            "Linux " + $0.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return "\(name)\(process.processorCount) cores, \(kernel ?? process.operatingSystemVersionString)"
    }
}
