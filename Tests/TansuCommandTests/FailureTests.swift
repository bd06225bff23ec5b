import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("Mistakes and exit codes")
struct FailureTests {
    @Test("every class of engine error has the exit code of the help")
    func codes() {
        let expected: [(TansuError.Code, Outcome)] = [
            (.memory, .system), (.misuse, .software), (.closed, .software), (.io, .inputOutput),
            (.full, .inputOutput), (.locked, .temporary), (.busy, .temporary), (.readOnly, .noPermission),
            (.corrupt, .damaged), (.version, .damaged), (.notFound, .noInput), (.exists, .badData),
            (.notUnique, .badData), (.invalidName, .badData), (.invalidBSON, .badData),
            (.invalidDocument, .badData), (.invalidID, .badData), (.invalidQuery, .badData),
            (.invalidIndex, .badData), (.invalidJSON, .badData), (.invalidCommand, .badData),
            (.tooLarge, .badData), (.cancelled, .temporary), (.timeout, .temporary),
            (.failed, .inputOutput), (.unsupported, .unavailable),
        ]
        for (code, status) in expected {
            #expect(Outcome(errorCode: code.description) == status, "\(code)")
        }
    }

    @Test("a mistake is one line with its code, its place and what to do")
    func text() {
        let failure = CommandFailure(
            code: "LOCKED", message: "It is open elsewhere", path: "a\n.tansu", remedy: "Close it there.")
        #expect(failure.text == "tansu: It is open elsewhere. Close it there. [LOCKED, a\\n.tansu]")
    }

    @Test("for programs it is an object")
    func json() throws {
        let failure = CommandFailure(code: "IO", message: "Quote \" and \\ and \n", path: "ü", remedy: "")
        let object = try BSONDocument(extendedJSON: failure.json)
        #expect(
            object == [
                "ok": false,
                "error": ["code": "IO", "message": "Quote \" and \\ and \n", "path": "ü"],
            ])
    }
}
