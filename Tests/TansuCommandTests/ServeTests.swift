import Foundation
import Testing

@Suite("tansu serve, where it does not serve")
struct ServeTests {
    @Test(
        "options that make no sense together are errors of usage",
        arguments: [
            (["--port", "65536"], "\"--port\" must be between 0 and 65535, not 65536"),
            (["--port=-1"], "\"--port\" must be between 0 and 65535, not -1"),
            (["--tls-certificate", "a.pem"], "\"--tls-certificate\" and \"--tls-key\" belong together"),
            (["--tls-key", "a.pem"], "\"--tls-certificate\" and \"--tls-key\" belong together"),
            (["--password-file", "a"], "\"--password-file\" needs \"--admin\""),
            (["--cors-credentials"], "\"--cors-credentials\" needs \"--cors-origin\""),
            (["--slow-calls=-1"], "\"--slow-calls\" must be between 0 and 3600000 milliseconds, not -1"),
        ])
    func usage(words: [String], message: String) throws {
        let command = try Command.withPeople()
        let result = try command.tansu(["serve", "people.tansu"] + words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains(message))
        #expect(result.output.isEmpty)
    }

    #if TansuServer
    @Test("a database that does not exist is not created without --create")
    func noDatabase() throws {
        let command = try Command()
        let result = try command.tansu("serve", "absent.tansu", "--port", "0")
        #expect(result.status == 66)
        #expect(result.error.contains("NOT_FOUND, absent.tansu"))
        #expect(!command.exists("absent.tansu"))
    }

    @Test("an admin needs a password")
    func noPassword() throws {
        let command = try Command.withPeople()
        try command.write("empty", "\nsecond line\n")
        for words in [["--password-file", "empty"], []] {
            let result = try command.tansu(
                ["serve", "people.tansu", "--port", "0", "--admin", "anna"] + words, input: [])
            #expect(result.status == 64)
            #expect(result.error.contains("The admin \"anna\" has no password"))
        }
        let absent = try command.tansu(
            ["serve", "people.tansu", "--port", "0", "--admin", "anna", "--password-file", "absent"], input: [])
        #expect(absent.status == 66)
        #expect(absent.error.contains("The file \"absent\" cannot be read"))
    }

    @Test("an admin who could not log in and an origin that is none are errors of usage")
    func invalidOptions() throws {
        let command = try Command.withPeople()
        try command.write("secret", "correct horse")
        for words in [["--admin", "a:b"], ["--admin", ""], ["--admin", "a", "--cors-origin", ""]] {
            let result = try command.tansu(
                ["serve", "people.tansu", "--port", "0", "--password-file", "secret"] + words, input: [])
            #expect(result.status == 64)
            #expect(result.error.contains("INVALID_ARGUMENT"))
        }
    }

    @Test("an address that others reach needs users")
    func noUsers() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("serve", "people.tansu", "--bind", "0.0.0.0", "--port", "0")
        #expect(result.status == 64)
        #expect(result.error.contains("NEEDS_USERS"))
        #expect(result.error.contains("--admin"))
    }

    @Test("certificates and keys that cannot be used are errors with their names")
    func badFiles() throws {
        let command = try Command.withPeople()
        try command.write("cert.pem", "no certificate")
        try command.write("keys.json", "{")
        let certificate = try command.tansu(
            "serve", "people.tansu", "--port", "0", "--tls-certificate", "cert.pem", "--tls-key", "cert.pem")
        #expect(certificate.status == 65)
        #expect(certificate.error.contains("INVALID_TLS"))
        #expect(certificate.error.contains("cert.pem"))
        let keys = try command.tansu("serve", "people.tansu", "--port", "0", "--jwt-keys", "keys.json")
        #expect(keys.status == 65)
        #expect(keys.error.contains("INVALID_KEYS"))
    }

    @Test("an address that this machine does not have is an error")
    func badAddress() throws {
        let command = try Command.withPeople()
        try command.write("secret", "correct horse")
        // RFC 5737: for documentation only.
        let result = try command.tansu(
            "serve", "people.tansu", "--port", "0", "--bind", "192.0.2.1", "--admin", "anna", "--password-file",
            "secret")
        #expect(result.status == 75)
        #expect(result.error.contains("CANNOT_LISTEN") && !result.error.contains("errno"))
        #expect(result.error.contains("192.0.2.1"))
        #expect(result.output.isEmpty)
    }
    #else
    @Test("a program without the server says how to get one with it")
    func noServer() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("serve", "people.tansu")
        #expect(result.status == 69)
        #expect(result.error.contains("swift build -c release --traits TansuServer"))
    }
    #endif
}
