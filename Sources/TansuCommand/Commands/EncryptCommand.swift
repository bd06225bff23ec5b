import ArgumentParser
import Tansu

/// What both commands do with the folder.
private let replacing = """
    A copy is made beside the database, takes its place in one step, and the old files are removed: interrupted at any \
    moment, the database is as before or as wanted, and running the command again removes what is left. Nobody else may \
    have the database open, and there must be space for a second one.
    """

struct EncryptCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypts a database that is not.",
        discussion: """
            \(replacing)

            Removed files can often be read from a disk, an SSD above all, until they are written over: better create \
            a database with its key.

            EXAMPLE:
              tansu encrypt restored.tansu --new-passphrase-file new.txt
            """
    )

    @Argument(help: "The folder of the database.", completion: .directory)
    var path: String
    @OptionGroup(title: "New key") var new: NewKeyOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try checkPath(path, of: "database") }

    func execute() throws -> CommandExitCode {
        let key = try new.keyOrAsked()
        try ProgressBar.showing(label: path) { progress in
            try Database.encrypt(path, with: key, progress: progress)
        }
        try printResult([:], text: "\(path) is encrypted now", asJSON: output.json)
        return .success
    }
}

struct DecryptCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Makes an encrypted database one that is not.",
        discussion: """
            \(replacing)

            EXAMPLE:
              tansu decrypt restored.tansu --passphrase-file new.txt
            """
    )

    @Argument(help: "The folder of the database.", completion: .directory)
    var path: String
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try checkPath(path, of: "database") }

    func execute() throws -> CommandExitCode {
        let key = try self.key.source.keyOrAsked(of: "Database", path)
        try ProgressBar.showing(label: path) { progress in
            try Database.decrypt(path, with: key, progress: progress)
        }
        try printResult([:], text: "\(path) is not encrypted any more", asJSON: output.json)
        return .success
    }
}
