#if TansuServer
    import Foundation
    import NIOSSL

    extension ServerTLS {
        /// The identity that the files have.
        ///
        /// - Throws: ``ServerError`` with `.invalidTLS`.
        func configuration() throws -> TLSConfiguration {
            for file in [certificateFile, keyFile] where !FileManager.default.isReadableFile(atPath: file) {
                throw ServerError(.invalidTLS, "The file \"\(file)\" cannot be read")
            }
            let certificates = try Self.reading("The file \"\(certificateFile)\" has no certificate in PEM form") {
                try NIOSSLCertificate.fromPEMFile(certificateFile)
            }
            let key = try Self.reading("The file \"\(keyFile)\" has no private key in PEM form that needs no password")
            {
                try NIOSSLPrivateKey(file: keyFile, format: .pem)
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            try Self.reading("The key \"\(keyFile)\" is not that of the certificate \"\(certificateFile)\"") {
                _ = try NIOSSLContext(configuration: configuration)
            }
            return configuration
        }

        private static func reading<Result>(_ problem: String, _ body: () throws -> Result) throws -> Result {
            do { return try body() } catch { throw ServerError(.invalidTLS, problem) }
        }
    }
#endif
