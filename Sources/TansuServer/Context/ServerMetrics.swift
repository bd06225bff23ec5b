#if TansuServer
import CoreMetrics
import HTTPTypes
import TansuBSON

/// Counts requests for `/_metrics`, and for the metrics library of the program.
final class ServerMetrics: Sendable {
    private struct Counts {
        /// By the hundreds of the status.
        var answers: [Int: Int] = [:]
        var methods: [String: Int] = [:]
        var seconds = 0.0
    }

    private enum MetricType: String {
        case counter
        case gauge
    }

    private let counts = Locked(Counts())

    /// A request was answered.
    ///
    /// - Parameter duration: Until the head of the answer.
    func record(_ method: HTTPRequest.Method, _ status: HTTPResponse.Status, _ duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        // A client can send any method, and each would stay in memory.
        let method = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
        counts.withLock { counts in
            counts.answers[status.code / 100, default: 0] += 1
            counts.methods[method, default: 0] += 1
            counts.seconds += seconds
        }
        let dimensions = [("method", method), ("status", "\(status.code / 100)xx")]
        Counter(label: "tansu_server_requests", dimensions: dimensions).increment()
        Timer(label: "tansu_server_request_duration", dimensions: dimensions)
            .recordNanoseconds(Int64(min(seconds, 1e9) * 1e9))
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "COPY", "OPTIONS"]

    /// The numbers in Prometheus' text format.
    ///
    /// - Parameter gauges: Names, meanings and values of what exists now.
    func text(gauges: [(name: String, help: String, value: Int)]) -> String {
        let counts = counts.withLock { $0 }
        var lines: [String] = []
        func add(_ name: String, is type: MetricType, _ help: String, _ samples: [(labels: String, value: String)]) {
            lines.append("# HELP \(name) \(help)")
            lines.append("# TYPE \(name) \(type.rawValue)")
            lines += samples.map { "\(name)\($0.labels) \($0.value)" }
        }
        add(
            "tansu_server_answers_total", is: .counter, "Answers by the class of their status.",
            counts.answers.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)xx\"}", String($0.value)) })
        add(
            "tansu_server_requests_total", is: .counter, "Requests by their method.",
            counts.methods.sorted { $0.key < $1.key }.map { ("{method=\"\($0.key)\"}", String($0.value)) })
        add(
            "tansu_server_request_seconds_total", is: .counter, "The time until the heads of all answers.",
            [("", String(counts.seconds))])
        for gauge in gauges { add(gauge.name, is: .gauge, gauge.help, [("", String(gauge.value))]) }
        return lines.joined(separator: "\n") + "\n"
    }
}
#endif
