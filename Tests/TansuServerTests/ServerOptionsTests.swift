#if TansuServer
import Foundation
import Tansu
import Testing

@testable import TansuServer

/// Options with which a server does not start, and how it says so.
@Suite struct ServerOptionsTests {
    @available(macOS 14, *)
    private func failure(_ change: (inout ServerOptions) -> Void) async throws -> ServerError? {
        var options = ServerOptions(port: 0)
        change(&options)
        let server = TansuServer(database: try Database(.memory), options: options)
        return await #expect(throws: ServerError.self) { try await server.run() }
    }

    @Test("Admins who could never log in are refused") @available(macOS 14, *)
    func admins() async throws {
        for (name, password) in [("", "secret"), ("a:b", "secret"), ("anna", "")] {
            let error = try await failure { $0.admins = [name: password] }
            #expect(error?.code == .invalidOptions)
        }
    }

    @Test(
        "Origins that no browser sends are refused",
        arguments: [
            "", "app.example", "https://", "https://app.example/", "https://a.example,https://b.example",
            "https://app.example ", "://a",
        ]) @available(macOS 14, *)
    func origins(_ origin: String) async throws {
        let error = try await failure { $0.cors = CrossOriginOptions(origins: [origin]) }
        #expect(error?.code == .invalidOptions)
        #expect(error?.message.contains("\"\(origin)\"") == true)
    }

    @Test("Origins of browsers are taken") func validOrigins() throws {
        var options = ServerOptions()
        options.cors = CrossOriginOptions(origins: [
            "*", "http://localhost:3000", "https://[::1]:8443", "capacitor://localhost",
        ])
        try options.validate()
        options.cors = CrossOriginOptions(origins: [])
        #expect(throws: ServerError.self) { try options.validate() }
    }

    @Test("What is wrong with a file of the TLS identity is said in words, and which one it is")
    @available(macOS 14, *)
    func tls() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tansu-tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ text: String) throws -> String {
            let url = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: url)
            return url.path
        }
        let (certificate, key) = (
            try file("cert.pem", TestCertificate.certificate), try file("key.pem", TestCertificate.key)
        )
        let text = try file("text", "no PEM")
        let other = try file("other.pem", Self.otherKey)
        let absent = folder.appendingPathComponent("absent").path
        for (certificate, key, message) in [
            (absent, key, "The file \"\(absent)\" cannot be read"),
            (certificate, absent, "The file \"\(absent)\" cannot be read"),
            (text, key, "The file \"\(text)\" has no certificate in PEM form"),
            (certificate, text, "The file \"\(text)\" has no private key in PEM form that needs no password"),
            (certificate, other, "The key \"\(other)\" is not that of the certificate \"\(certificate)\""),
        ] {
            let error = try await failure { $0.tls = ServerTLS(certificateFile: certificate, keyFile: key) }
            #expect(error == ServerError(.invalidTLS, message))
        }
    }

    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgROTCkitifdHIU1YK
        O0BLw7z8mIb4LSgUAXZ86L45RWyhRANCAAT4ctHY0S60txgB4PhnSzrSh20riQvp
        G1T5gVPPMGkPIUyHvQ/7rT71u0raNBtj+pLvEUoEIRTCd9lMXpJzmKmB
        -----END PRIVATE KEY-----
        """

    @Test(
        "What is wrong with a JWK set is said in words",
        arguments: [
            ("{", "it is not JSON"), ("{}", "\"keys\" is missing"),
            (#"{"keys":[{"kid":"a"}]}"#, "\"keys.0.kty\" is missing"),
            (#"{"keys":5}"#, "\"keys\" has a value of another type"),
        ]) @available(macOS 14, *)
    func keys(_ text: String, _ reason: String) async throws {
        let error = try await failure { $0.jsonWebKeys = text }
        #expect(error == ServerError(.invalidKeys, "The keys of bearer tokens are not a JWK set: \(reason)"))
    }

    @Test("An address that there is not is said in words") @available(macOS 14, *)
    func unknownHost() async throws {
        let error = try await failure {
            $0.host = "nowhere.invalid"
            $0.admins = ["anna": "secret"]
        }
        #expect(error == ServerError(.cannotListen, "Cannot listen at nowhere.invalid: there is no such address"))
    }
}
#endif
