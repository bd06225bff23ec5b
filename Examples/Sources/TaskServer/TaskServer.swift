import Hummingbird
import Logging
import Metrics
import TaskService
import Tansu

/// Serves the tasks of a database until it gets SIGTERM or SIGINT: `TaskServer /tmp/tasks.tansu 8080`.
@main
struct TaskServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[2]) else {
            print("usage: TaskServer DATABASE PORT")
            return
        }
        // Here a service chooses where its metrics and traces go, with swift-prometheus or swift-otel for example:
        //
        //     MetricsSystem.bootstrap(…)
        //     InstrumentationSystem.bootstrap(…)
        let logger = Logger(label: "tasks")
        let database = try await Database.open(
            .persistent(path: arguments[1]), options: .init(logger: logger, metrics: MetricsSystem.factory))
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await TaskService.application(database, configuration: configuration, logger: logger).runService()
    }
}
