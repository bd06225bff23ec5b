/* ICU, for the C code of CTansuCollation. Swift must not import it: Foundation has a module with the same types. */
#include <unicode/ucol.h>
