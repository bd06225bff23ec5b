#if TansuServer
    /// `/`: what this server is.
    enum WelcomeEndpoint {
        static let route = Route(
            "/", allow: "GET,HEAD", access: .everyone,
            [
                .get: .init { request in
                    .json([
                        "couchdb": "Welcome", "version": "3.5.0", "vendor": ["name": "Tansu"], "features": [],
                    ])
                }
            ])
    }
#endif
