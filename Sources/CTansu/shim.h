/* The engine's public header, where build-engine.sh installed it. */
#include <tansu.h>
