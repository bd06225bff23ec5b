import ArgumentParser
import Foundation
import Tansu
import TansuBSON

#if TansuServer
import Logging
import TansuServer

#if canImport(Glibc)
import Glibc
#endif
#endif

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

    #if TansuServer
    func execute() throws -> CommandExitCode {
        guard #available(macOS 14, *) else {
            throw CommandError(code: "UNSUPPORTED", message: "The server needs macOS 14")
        }
        let options = try serverOptions()
        Self.limitFragmentation()
        return try OpenDatabase.with(target, create ? .create : .write) { opened in
            let server = TansuServer(database: opened.database, options: options)
            try Self.waiting {
                async let port = server.port()
                async let running: Void = server.runUntilSignal()
                if let port = await port { try printListening(port) }
                try await running
            }
            return .success
        }
    }

    /// The allocator of glibc has a heap for each thread, up to eight for each processor. Requests move between threads, so that
    /// each heap grows as far as the largest requests need it. Two heaps are enough, and large blocks go back at once.
    private static func limitFragmentation() {
        #if canImport(Glibc)
        // Swift does not see malloc.h. Other C libraries have no such function.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let (arenaMaximum, mappingThreshold, trimThreshold): (CInt, CInt, CInt) = (-8, -3, -1)
        _ = mallopt(arenaMaximum, 2)
        _ = mallopt(mappingThreshold, 128 << 10)
        _ = mallopt(trimThreshold, 128 << 10)
        #endif
    }

    private func serverOptions() throws -> ServerOptions {
        var options = ServerOptions(host: bind, port: port)
        if let admin { options.admins = [admin: try password(of: admin)] }
        if let tlsCertificate, let tlsKey {
            options.tls = ServerTLS(certificateFile: tlsCertificate, keyFile: tlsKey)
        }
        if !corsOrigin.isEmpty {
            var cors = CrossOriginOptions(origins: corsOrigin)
            cors.allowsCredentials = corsCredentials
            options.cors = cors
        }
        options.hasInspector = !noInspector
        options.jsonWebKeys = try jwtKeys.map(contents)
        var logger = Logger(label: "tansu", factory: StreamLogHandler.standardError(label:))
        logger.logLevel = log ? .info : .warning
        options.logger = logger
        return options
    }

    private func password(of admin: String) throws -> String {
        if let passwordFile {
            let password = try contents(of: passwordFile).prefix { $0 != "\n" && $0 != "\r\n" }
            if !password.isEmpty { return String(password) }
        } else if let password = ProcessInfo.processInfo.environment["TANSU_ADMIN_PASSWORD"], !password.isEmpty {
            return password
        }
        throw CommandError(
            code: "NO_PASSWORD", message: "The admin \"\(admin)\" has no password", path: passwordFile ?? "",
            remedy: "write it to a file and name it with --password-file, or set TANSU_ADMIN_PASSWORD",
            status: .usage)
    }

    private func contents(of file: String) throws -> String {
        do {
            return try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw CommandError(
                code: "NOT_FOUND", message: "The file \"\(file)\" cannot be read", path: file,
                remedy: "check the path and the permissions")
        }
    }

    private func printListening(_ port: Int) throws {
        let host = bind.contains(":") ? "[\(bind)]" : bind
        let url = "\(tlsCertificate == nil ? "http" : "https")://\(host):\(port)/"
        let users = admin == nil ? "; whoever reaches it is let in, unless the database has users" : ""
        let page = noInspector ? "\(url)_all_dbs for its collections" : "\(url)_utils/ in a browser"
        var result: BSONDocument = ["url": .string(url), "database": .string(target.database)]
        if !noInspector { result["inspector"] = .string("\(url)_utils/") }
        try printResult(
            result,
            text: """
                Serving \(target.database) at \(url)\(users)
                Open \(page), or replicate with \(url)NAME. Ctrl-C ends the server.
                """,
            asJSON: output.json)
    }

    /// Runs asynchronous code to its end, while the main thread waits.
    @available(macOS 14, *)
    private static func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
        let ended = DispatchSemaphore(value: 0)
        let failure = Outcome()
        Task {
            do { try await body() } catch { failure.error = error }
            ended.signal()
        }
        ended.wait()
        if let error = failure.error { throw CommandError(serving: error) }
    }

    /// `@unchecked Sendable`: the semaphore orders the accesses.
    private final class Outcome: @unchecked Sendable {
        var error: (any Error)?
    }
    #else
    func execute() throws -> CommandExitCode {
        throw CommandError(
            code: "UNSUPPORTED", message: "This \"tansu\" was built without the server",
            remedy: "build it with \"swift build -c release --traits TansuServer\"", status: .unavailable)
    }
    #endif
}

#if TansuServer
extension CommandError {
    /// Why a server does not run.
    fileprivate init(serving error: any Error) {
        guard let error = error as? ServerError else {
            self.init(error)
            return
        }
        switch error.code {
        case .needsUsers:
            self.init(
                code: "NEEDS_USERS", message: error.message, remedy: "name a server admin with --admin",
                status: .usage)
        case .invalidOptions:
            self.init(code: "INVALID_ARGUMENT", message: error.message, status: .usage)
        case .invalidTLS:
            self.init(code: "INVALID_TLS", message: error.message, status: .invalidInput)
        case .invalidKeys:
            self.init(code: "INVALID_KEYS", message: error.message, status: .invalidInput)
        case .cannotListen:
            self.init(
                code: "CANNOT_LISTEN", message: error.message, remedy: "choose another one with --port or --bind",
                status: .temporary)
        }
    }
}
#endif
