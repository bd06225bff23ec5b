import ArgumentParser
import Tansu

struct ServeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves a database with the HTTP API of CouchDB.",
        discussion: """
            Each collection is a database of the API, for CouchDB's clients and replicators. Without --admin and users the server \
            listens only at this machine's own address, and lets everyone in.

            The password of --admin is the first line of the file of --password-file, or the value of the \
            environment variable TANSU_ADMIN_PASSWORD.

            EXAMPLE:
              tansu serve people.tansu
              tansu serve people.tansu --create --port 0
              tansu serve people.tansu --bind 0.0.0.0 --admin anna --password-file secret \
            --tls-certificate cert.pem --tls-key key.pem
            """
    )

    @OptionGroup var target: DatabaseArgument

    @Flag(help: "Create the database if it does not exist.")
    var create = false

    @Option(help: ArgumentHelp("Listen at this port; 0 takes a free one.", valueName: "n"))
    var port = 5984

    @Option(help: ArgumentHelp("Listen at this address.", valueName: "address"))
    var bind = "127.0.0.1"

    @Option(help: ArgumentHelp("Let a server admin with this name in.", valueName: "name"))
    var admin: String?

    @Option(help: ArgumentHelp("Read the admin's password from this file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp("Speak TLS with the certificates of this PEM file.", valueName: "file"), completion: .file())
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("The private key of the certificate, a PEM file.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(help: ArgumentHelp("Let pages of this origin use the server; may be repeated.", valueName: "origin"))
    var corsOrigin: [String] = []

    @Flag(help: "Let pages of other origins send cookies and passwords.")
    var corsCredentials = false

    @Option(
        help: ArgumentHelp("Accept bearer tokens that are signed with a key of this JWK set.", valueName: "file"),
        completion: .file())
    var jwtKeys: String?

    @Flag(help: "Do not serve the inspector, a page for browsers.")
    var noInspector = false

    @Flag(help: "Log each request to standard error.")
    var log = false

    @OptionGroup var slow: SlowCallOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("\"--port\" must be between 0 and 65535, not \(port)")
        }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("\"--tls-certificate\" and \"--tls-key\" belong together")
        }
        if corsCredentials, corsOrigin.isEmpty {
            throw ValidationError("\"--cors-credentials\" needs \"--cors-origin\"")
        }
        if passwordFile != nil, admin == nil { throw ValidationError("\"--password-file\" needs \"--admin\"") }
    }
}
