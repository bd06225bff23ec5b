#if TansuServer
    import Foundation
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif
    import Testing

    @Suite struct ServerTests {
        @Test @available(macOS 14, *) func welcomes() async throws {
            try await RunningServer.run { server in
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
                let (data, response) = try await URLSession.shared.data(from: url)
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                #expect(String(decoding: data, as: UTF8.self).contains(#""couchdb":"Welcome""#))
            }
        }
    }
#endif
