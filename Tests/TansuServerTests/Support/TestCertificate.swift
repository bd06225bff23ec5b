#if TansuServer
/// A certificate of `localhost` that nobody but the tests trusts, with its key.
enum TestCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBlTCCATugAwIBAgIUFqpAdVleV96GTQDT4jQquqmcPE0wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzEzMjg0OVoYDzIxMjYxMDMw
        MTMyODQ5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAR8T+F1qELDaFMw7A26q3/hDXwsjYszzXxs1YbWoFc1B2XUVluSaaiG
        yhXUBJP1/8pKJUG84t34QkKy1W2+sbmdo2kwZzAdBgNVHQ4EFgQU2CIOJnFVVejj
        b3shA5v4KiP8pPswHwYDVR0jBBgwFoAU2CIOJnFVVejjb3shA5v4KiP8pPswDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        SAAwRQIhALOqo5MkI06eEtjG9PlCksNOsLAOfXM5mojjQ+6760d+AiBW3utcRTWT
        X+u/SuHHB5YB1ORN/YEOwuM5wd8yyowjYw==
        -----END CERTIFICATE-----
        """
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7WnkjuCrFbSUzNCH
        pb5WMYHcYCBSuIcj55uajk+yKz+hRANCAAR8T+F1qELDaFMw7A26q3/hDXwsjYsz
        zXxs1YbWoFc1B2XUVluSaaiGyhXUBJP1/8pKJUG84t34QkKy1W2+sbmd
        -----END PRIVATE KEY-----
        """
}
#endif
