import Tansu
import TansuBSON

/// Runs JSON commands on a database that the command line has opened, within the limits of its other commands: what the
/// library keeps is not written, passwords are hashed, and replicated collections get documents that can be replicated.
struct JSONRunner: Sendable {
    let database: Database

    /// The response to a request, both in JSON. An error is a response.
    func response(to request: String) -> String {
        do {
            guard try mayBeOfOthers(request) else { return try database.executeJSON(request) }
            let parsed = try BSONDocument(extendedJSON: request)
            let allowed = try CommandLimits.here.allowed(parsed, on: database)
            return try database.executeJSON(
                allowed.bytes == parsed.bytes ? request : allowed.extendedJSON(.canonical))
        } catch {
            return CommandError(error).json
        }
    }

    /// The response to a request.
    ///
    /// - Throws: `CommandError` for a response that is an error.
    @discardableResult
    func run(_ request: BSONDocument) throws -> BSONDocument {
        let allowed: BSONDocument
        do { allowed = try CommandLimits.here.allowed(request, on: database) } catch { throw CommandError(error) }
        let text = try database.executeJSON(allowed.extendedJSON(.canonical))
        let response = try BSONDocument(extendedJSON: text)
        guard let error = response["error"]?.documentValue else { return response }
        throw CommandError(ofResponse: error)
    }

    /// Whether a request has to be parsed to know that it is allowed. An escape may spell any name.
    private func mayBeOfOthers(_ request: String) throws -> Bool {
        let bytes = request.utf8
        return try ["tansu.", CommandLimits.accounts, "\\u", "\"load\""].contains { bytes.contains($0.utf8) }
            || Session(database).collectionInfo(CommandLimits.replicationStates) != nil
    }
}

extension CommandError {
    /// An error in the response to a JSON command.
    init(ofResponse error: BSONDocument) {
        let code = error["code"]?.stringValue ?? ""
        self.init(
            code: code, message: error["message"]?.stringValue ?? code, path: error["path"]?.stringValue ?? "")
        document = error["document"]?.intValue
    }
}
