/* Makes zlib visible to Swift: the command line reads .gz files with it. */
#include <zlib.h>
