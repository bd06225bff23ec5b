#if TansuServer
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Tansu
import TansuSync
import Testing
@testable import TansuServer

@Suite struct SecureConnectionTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tansu-tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test @available(macOS 14, *) func aServerSpeaksTLS() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["certificate.pem": TestCertificate.certificate, "key.pem": TestCertificate.key]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        var options = ServerOptions(port: 0)
        options.tls = ServerTLS(
            certificateFile: folder.appendingPathComponent("certificate.pem").path,
            keyFile: folder.appendingPathComponent("key.pem").path)
        try await RunningServer.run(options: options) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            let certificates = try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8))
            configuration.trustRoots = .certificates(certificates)
            let context = try NIOSSLContext(configuration: configuration)
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                        return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            let text = try await channel.executeThenClose { inbound, outbound in
                let request = "GET /_session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                try await outbound.write(ByteBuffer(string: request))
                var text = ""
                for try await bytes in inbound { text += String(buffer: bytes) }
                return text
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            // Plain HTTP gets no answer.
            #expect(try await server.answers(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").isEmpty)
        }
    }

    @Test @available(macOS 14, *) func whatCannotBeTrustedIsSaidAtOnce() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["certificate.pem": TestCertificate.certificate, "key.pem": TestCertificate.key]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        var options = ServerOptions(port: 0)
        options.tls = ServerTLS(
            certificateFile: folder.appendingPathComponent("certificate.pem").path,
            keyFile: folder.appendingPathComponent("key.pem").path)
        let people = try Database(.memory).collection("people")
        try await people.save(["_id": "a"])
        @Sendable func reason(_ host: String, _ port: Int, trusted: Bool) async throws -> String {
            var options = Replication.Options()
            options.createsTarget = true
            if trusted { options.trustedCertificates = folder.appendingPathComponent("certificate.pem").path }
            do {
                let replication = try await people.replicate(
                    with: "https://\(host):\(port)/people", .push, .once, options: options)
                try await replication.wait()
                return ""
            } catch let error as SyncError {
                #expect(error.code == .unreachable && !error.description.contains("BoringSSL"))
                return error.description
            }
        }
        try await RunningServer.run(options: options) { server in
            let trusted = try await reason("localhost", server.port, trusted: true)
            #expect(trusted == "")
            let distrusted = try await reason("localhost", server.port, trusted: false)
            #expect(distrusted.contains("certificate has expired, or"))
            let foreign = try await reason("127.0.0.1", server.port, trusted: true)
            #expect(foreign.contains("for another host"))
        }
        try await RunningServer.run { server in
            let plain = try await reason("localhost", server.port, trusted: true)
            #expect(plain.contains("does not speak TLS"))
        }
    }

    @Test @available(macOS 14, *) func filesThatAreNoIdentityAreNamed() async throws {
        var options = ServerOptions(port: 0)
        options.tls = ServerTLS(certificateFile: "/nowhere/a.pem", keyFile: "/nowhere/b.pem")
        let server = TansuServer(database: try Database(.memory), options: options)
        let error = await #expect(throws: ServerError.self) { try await server.run() }
        #expect(error?.code == .invalidTLS)
        #expect(error?.message.contains("/nowhere/a.pem") == true)
    }
}
#endif
