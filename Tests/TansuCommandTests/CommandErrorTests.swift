import Foundation
import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("Errors and exit codes")
struct CommandErrorTests {
    @Test("every error code of the engine has an exit code")
    func codes() {
        let expected: [(TansuError.Code, CommandExitCode)] = [
            (.memory, .system), (.invalidArgument, .usage), (.closed, .software), (.io, .inputOutput),
            (.full, .inputOutput), (.locked, .temporary), (.busy, .temporary), (.readOnly, .noPermission),
            (.corrupt, .corrupt), (.version, .corrupt), (.notFound, .noInput), (.exists, .invalidInput),
            (.notUnique, .invalidInput), (.invalidName, .invalidInput), (.invalidBSON, .invalidInput),
            (.invalidDocument, .invalidInput), (.invalidID, .invalidInput), (.invalidQuery, .invalidInput),
            (.invalidIndex, .invalidInput), (.invalidJSON, .invalidInput), (.invalidCommand, .invalidInput),
            (.tooLarge, .invalidInput), (.cancelled, .temporary), (.timeout, .temporary),
            (.syncFailed, .inputOutput), (.unsupported, .unavailable), (.invalidState, .software),
            (.referenced, .invalidInput), (.moved, .inputOutput), (.encrypted, .noPermission),
            (.wrongKey, .noPermission),
        ]
        for (code, status) in expected {
            #expect(CommandExitCode(errorCode: code.description) == status, "\(code)")
        }
    }

    @Test("missing permission is the same error as a read-only file system")
    func permission() {
        for number in [EACCES, EPERM] {
            let error = CommandError(TansuError(.io, "It could not be opened", systemErrno: number))
            #expect(error.code == "READ_ONLY" && error.status == .noPermission)
        }
        #expect(CommandError(TansuError(.io, "It could not be opened", systemErrno: EIO)).status == .inputOutput)
    }

    @Test("the text is one line with message, remedy, code and path")
    func text() {
        let error = CommandError(
            code: "LOCKED", message: "It is locked", path: "a\n.tansu", remedy: "close it there")
        #expect(error.text == "tansu: It is locked; close it there [LOCKED, a\\n.tansu]")
        #expect(CommandError(code: "IO", message: "Disk\nfull").text == "tansu: Disk\\nfull [IO]")
    }

    @Test("the JSON form is an object")
    func json() throws {
        let failure = CommandError(code: "IO", message: "Quote \" and \\ and \n", path: "ü", remedy: "")
        let object = try BSONDocument(extendedJSON: failure.json)
        #expect(
            object == [
                "ok": false,
                "error": ["code": "IO", "message": "Quote \" and \\ and \n", "path": "ü"],
            ])
    }
}
