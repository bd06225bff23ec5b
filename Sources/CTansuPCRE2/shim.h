/* Makes PCRE2 visible to Swift: Mango queries have regular expressions over bytes, as CouchDB runs them. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
