#if TansuSync
    import Foundation
    import NIOSSL
    import Tansu

    /// A side of a replication: a collection of this process, or a database on a server.
    package enum ReplicationSide: Sendable {
        case collection(ReplicatedCollection)
        case remote(RemoteURL, RemoteCredentials)

        /// Reads a URL.
        ///
        /// - Throws: ``ReplicationError`` of code `invalidURL`.
        package static func url(
            _ text: String, credentials: RemoteCredentials = .none
        ) throws(ReplicationError) -> ReplicationSide { .remote(try RemoteURL(text), credentials) }

        /// What distinguishes it from others.
        fileprivate var identity: String {
            get async throws {
                switch self {
                case .collection(let collection): try await LocalPeer(collection).identity
                case .remote(let url, _): url.text
                }
            }
        }
    }

    extension Replication.Options {
        /// The name of the checkpoints of a replication with these options.
        package func checkpointID(_ source: ReplicationSide, _ target: ReplicationSide) async throws -> String {
            Replicator.checkpointID(
                try await source.identity, try await target.identity, try replicationFilter())
        }

        /// The connections to servers.
        ///
        /// - Throws: ``ReplicationError`` of code `invalidOptions`.
        func transport() throws(ReplicationError) -> ClientTransport {
            guard batchSize > 0, batchBytes > 0, timeout > 0, attempts > 0 else {
                throw ReplicationError(
                    .invalidOptions, "batchSize, batchBytes, timeout and attempts of a replication are 1 or more")
            }
            var trusted: [NIOSSLCertificate]?
            if let trustedCertificates {
                trusted = try? NIOSSLCertificate.fromPEMFile(trustedCertificates)
                guard trusted?.isEmpty == false else {
                    let isReadable = FileManager.default.isReadableFile(atPath: trustedCertificates)
                    let fault = isReadable ? "has no PEM certificates" : "cannot be read"
                    throw ReplicationError(.invalidOptions, "The file \"\(trustedCertificates)\" \(fault)")
                }
            }
            return ClientTransport(trusted: trusted, timeout: Int64(timeout))
        }

        /// The filter as the replicator has it.
        func replicationFilter() throws(ReplicationError) -> ReplicationFilter {
            switch filter {
            case .all: return .all
            case .ids(let ids): return .ids(Set(ids.map { BytewiseText($0) }))
            case .selector(let selector):
                do { return .selector(try Mango.Selector(selector)) } catch {
                    throw ReplicationError(.invalidOptions, "The selector of a replication is invalid: \(error)")
                }
            }
        }
    }
#endif
