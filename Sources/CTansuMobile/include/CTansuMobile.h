/* Has the engine compiled with the package on systems where no library can be installed: a package manifest cannot say of one
 * dependency that it holds for a trait or for some systems. */
