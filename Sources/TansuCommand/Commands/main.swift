// The entry point of the program.
import Foundation

// A write beyond the limit of a file size is an error like that of a full disk, instead of the end of the process.
signal(SIGXFSZ, SIG_IGN)
RootCommand.runCommandLine()
