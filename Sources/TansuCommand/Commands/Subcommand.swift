import ArgumentParser

/// A subcommand whose `execute()` returns the exit status of the process.
protocol Subcommand: ParsableCommand {
    var output: OutputOptions { get }

    /// Executes the command.
    /// - Returns: The exit status.
    /// - Throws: Any error. It is converted to a `CommandError` and reported.
    func execute() throws -> CommandExitCode
}

extension Subcommand {
    mutating func run() throws {
        let status: CommandExitCode
        do {
            status = try execute()
        } catch let error as ValidationError {
            // The argument parser reports it together with the usage.
            throw error
        } catch {
            let failure = CommandError(error)
            failure.report(asJSON: output.json)
            throw ExitCode(failure.status.rawValue)
        }
        if status != .success { throw ExitCode(status.rawValue) }
    }
}
