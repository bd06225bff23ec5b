#if TansuServer
import Logging
import Tansu
import TansuBSON
import TansuServer

extension ServeCommand {
    func execute() throws -> CommandExitCode {
        guard #available(macOS 14, *) else {
            throw CommandError(code: "UNSUPPORTED", message: "The server needs macOS 14")
        }
        let options = try serverOptions()
        limitFragmentation()
        let configure = slow.record(options.slowCalls)
        return try OpenDatabase.with(target, create ? .create : .write, configure: configure) { opened in
            let server = TansuServer(database: opened.database, options: options)
            do {
                try waiting {
                    async let port = server.port()
                    async let running: Void = server.runUntilSignal()
                    if let port = await port { try printListening(port) }
                    try await running
                }
            } catch {
                throw CommandError(serving: error)
            }
            return .success
        }
    }

    private func serverOptions() throws -> ServerOptions {
        var options = ServerOptions(host: bind, port: port)
        if let admin {
            options.admins = [
                admin: try password(
                    of: "The admin \"\(admin)\"", file: passwordFile, variable: "TANSU_ADMIN_PASSWORD")
            ]
        }
        if let tlsCertificate, let tlsKey {
            options.tls = ServerTLS(certificateFile: tlsCertificate, keyFile: tlsKey)
        }
        if !corsOrigin.isEmpty {
            var cors = CrossOriginOptions(origins: corsOrigin)
            cors.allowsCredentials = corsCredentials
            options.cors = cors
        }
        options.hasInspector = !noInspector
        options.slowCalls = slow.list()
        options.jsonWebKeys = try jwtKeys.map(contents)
        var logger = Logger(label: "tansu", factory: StreamLogHandler.standardError(label:))
        logger.logLevel = log ? .info : .warning
        options.logger = logger
        return options
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
}

extension CommandError {
    /// Why a server does not run.
    init(serving error: any Error) {
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
#else
extension ServeCommand {
    func execute() throws -> CommandExitCode {
        throw CommandError(builtWithout: "the server", trait: "TansuServer")
    }
}
#endif
