/*
 * What the engine uses of Darwin's headers that Linux's lack, so that a compiler on Linux checks the
 * parts of it that are for Apple's systems: their syntax, and that nothing which only the parts for
 * Linux declare is used in them. Numbers are not Darwin's.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define F_FULLFSYNC 1
#define F_PREALLOCATE 2
#define F_GETPATH 3
#define F_ALLOCATEALL 1
#define F_PEOFPOSMODE 1
#define PROC_ALL_PIDS 1
#define PROC_LISTPIDSPATH_EXCLUDE_EVTONLY 1
#define CLOCK_MONOTONIC_RAW_APPROX CLOCK_MONOTONIC
#define st_mtimespec st_mtim

typedef struct fstore_t {
    unsigned fst_flags;
    int fst_posmode;
    off_t fst_offset, fst_length, fst_bytesalloc;
} fstore_t;

int proc_listpidspath(uint32_t kind, uint32_t info, const char *path, uint32_t flags, void *buffer,
                      int size);
#define RENAME_SWAP 2
int renamex_np(const char *from, const char *to, unsigned flags);
int proc_name(int pid, void *buffer, uint32_t size);
int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *,
                                       const struct timespec *);
int sysctlbyname(const char *name, void *old, size_t *size, void *new_value, size_t new_size);
size_t malloc_zone_pressure_relief(void *zone, size_t goal);

#define kCCHmacAlgSHA256 1
#define kCCPBKDF2 1
#define kCCPRFHmacAlgSHA512 1
#define kCCSuccess 0
void CCHmac(uint32_t algorithm, const void *key, size_t key_size, const void *bytes, size_t size,
            void *out);
int CCKeyDerivationPBKDF(uint32_t algorithm, const char *password, size_t password_size,
                         const uint8_t *salt, size_t salt_size, uint32_t prf, unsigned rounds,
                         uint8_t *key, size_t key_size);
