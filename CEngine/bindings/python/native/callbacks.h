/* callbacks.h -- functions that Python defines (extern "Python+C" of cffi); they take the GIL. */
#ifndef TANSU_PYTHON_CALLBACKS_H
#define TANSU_PYTHON_CALLBACKS_H

#include "tansu.h"

int python_progress(void *context, uint64_t done, uint64_t total);
void python_log(void *context, const tansu_log_event *event);
int python_write(void *context, const void *bytes, size_t size);
ptrdiff_t python_read(void *context, void *bytes, size_t capacity);

#endif
