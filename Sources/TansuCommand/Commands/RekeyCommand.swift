import ArgumentParser
import Tansu

struct RekeyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Replaces the key of an encrypted database.",
        discussion: """
            From then on the database opens with the new key only. The data itself is encrypted with a key that stays, \
            so this takes no longer than opening the database. A copy of the database's files that was made before \
            still opens with the old key, and who has one can read what is written later: --everything replaces the \
            key of the data, too, and writes all of it anew.

            EXAMPLES:
              tansu save me.tansu people '{"name": "Ann"}' --passphrase-file old.txt
              tansu rekey me.tansu --passphrase-file old.txt --new-passphrase-file new.txt
            """
    )

    @OptionGroup var target: DatabaseArgument
    @OptionGroup(title: "New key") var new: NewKeyOptions
    @Flag(help: "Encrypt all data anew, with another key of its own.") var everything = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        // A new key that is none is found before the old one is asked for.
        let given = try new.source.key()
        return try OpenDatabase.with(target, .write) { opened in
            guard try opened.database.stats()["encrypted"] != nil else {
                throw CommandError(
                    code: "INVALID_STATE", message: "Database \"\(target.database)\" is not encrypted: it has no key",
                    path: target.database, status: .usage)
            }
            let key = try given ?? new.keyOrAsked()
            if everything {
                try ProgressBar.showing(label: target.database) { progress in
                    try opened.database.rekeyEverything(to: key, progress: progress)
                }
            } else {
                try opened.database.rekey(to: key)
            }
            try printResult([:], text: "Only the new key opens \(target.database) now", asJSON: output.json)
            return .success
        }
    }
}
