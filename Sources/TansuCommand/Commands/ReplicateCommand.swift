import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct ReplicateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "replicate",
        abstract: "Copies documents between databases, with servers too.",
        discussion: """
            SOURCE and TARGET are each a collection, as FOLDER/COLLECTION, or the URL of a database of CouchDB, of PouchDB \
            Server or of "tansu serve". What the target has already is not copied again. Documents, deletions, \
            conflicts and attachments are copied.

            The user is part of a URL, or that of --user. The password is part of the URL as well, or the first line of the \
            file of --password-file, or the value of the environment variable TANSU_PASSWORD. Two servers get the same one only \
            for users of the same name. Two folders are opened with the same key.

            EXAMPLE:
              tansu replicate people.tansu/people https://anna@example.org/people --create
              tansu replicate https://example.org/people people.tansu/people --both --continuous
              tansu replicate people.tansu/people copy.tansu/people --create --selector '{"age": {"$gt": 21}}'
            """
    )

    @Argument(help: "A collection, as FOLDER/COLLECTION, or a URL.")
    var source: String

    @Argument(help: "A collection, as FOLDER/COLLECTION, or a URL.")
    var target: String

    @Flag(help: "Copy from the target to the source as well.")
    var both = false

    @Flag(help: "Go on with later changes until Ctrl-C.")
    var continuous = false

    @Flag(help: "Create the target if it does not exist.")
    var create = false

    @Option(help: ArgumentHelp("Copy only the document with this id; may be repeated.", valueName: "id"))
    var id: [String] = []

    @Option(help: ArgumentHelp("Copy only documents that this Mango selector matches.", valueName: "json"))
    var selector: String?

    @Flag(
        help: """
            Write dates, binary data, ObjectIds and decimals for a server as plain JSON, not as extended JSON. They come back \
            from there as text and numbers.
            """)
    var plainJSON = false

    @Option(help: ArgumentHelp("The user for URLs that name none.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Read the password from this file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust only servers whose certificate goes back to one of this PEM file.", valueName: "file"),
        completion: .file())
    var trustedCertificates: String?

    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        for (text, what) in [(source, "source"), (target, "target")] {
            try checkPath(text, of: what)
            guard text.contains("://") || Self.split(text) != nil else {
                throw ValidationError("The \(what) \"\(text)\" is neither FOLDER/COLLECTION nor a URL")
            }
        }
        let hasUser = user != nil || [source, target].contains { URLComponents(string: $0)?.user != nil }
        if passwordFile != nil, !hasUser {
            throw ValidationError(
                "\"--password-file\" needs a user: in a URL, such as https://anna@example.org/people, or \"--user\"")
        }
        let users = [source, target].compactMap(userWithoutPassword)
        if let first = users.first, users.contains(where: { $0 != first }) {
            throw ValidationError(
                "\"\(users.joined(separator: "\" and \""))\" would get the same password; write it into one of the URLs"
            )
        }
        if let trustedCertificates { try checkPath(trustedCertificates, of: "certificates") }
        if !id.isEmpty, selector != nil { throw ValidationError("\"--id\" and \"--selector\" exclude each other") }
    }

    /// The user of a URL whose password is in no URL; nil when it has none.
    func userWithoutPassword(of url: String) -> String? {
        let parts = URLComponents(string: url)
        return url.contains("://") && parts?.password == nil ? parts?.user ?? user : nil
    }

    /// The folder and the collection; nil when one of them is missing.
    static func split(_ text: String) -> (folder: String, collection: String)? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let collection = String(text[text.index(after: slash)...])
        return collection.isEmpty ? nil : (String(text[..<slash]), collection)
    }
}
