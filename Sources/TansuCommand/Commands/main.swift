// The entry point of the program.
RootCommand.runCommandLine()
