# Builds the engine and the command line, with the server, from the archive of a tag. Address and digest of the archive are
# those of a release: there is none yet.
class Tansu < Formula
  desc "Embedded JSON document database, its command-line and its server"
  homepage "https://tansu.example/"
  url "https://tansu.example/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on xcode: ["16.3", :build] # Swift 6.1
  depends_on "icu4c"
  depends_on "libdeflate"
  depends_on "lz4"
  depends_on macos: :sonoma
  depends_on "mongo-c-driver@1"
  depends_on "openssl@3"
  depends_on "pcre2"
  depends_on "snowball"

  uses_from_macos "swift" => :build
  uses_from_macos "zlib"

  def install
    system "make", "-C", "CEngine", "install", "PREFIX=#{prefix}"
    ENV.prepend_path "PKG_CONFIG_PATH", lib/"pkgconfig"

    options = ["--configuration", "release", "--traits", "TansuServer"]
    options << "--static-swift-stdlib" if OS.linux?
    system "swift", "build", "--disable-sandbox", "--product", "tansu", *options

    # The program looks for its resources next to itself.
    programs = Utils.safe_popen_read("swift", "build", "--show-bin-path", *options).chomp
    libexec.install "#{programs}/tansu", Dir["#{programs}/tansu_TansuCommand.{bundle,resources}"]
    bin.install_symlink libexec/"tansu"
    generate_completions_from_executable(bin/"tansu", "--generate-completion-script")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tansu --version")
    system bin/"tansu", "save", "people.tansu", "people", '{"_id": 1, "name": "Ada"}'
    assert_match "Ada", shell_output("#{bin}/tansu find people.tansu people '{\"_id\": 1}'")
    (testpath/"version.c").write <<~C
      #include <tansu.h>

      int main(void) {
          return tansu_version_number() != TANSU_VERSION_NUMBER;
      }
    C
    system ENV.cc, "version.c", "-I#{include}", "-L#{lib}", "-ltansu", "-o", "version"
    system "./version"
  end
end
