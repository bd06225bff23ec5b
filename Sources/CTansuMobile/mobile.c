#include "CTansuMobile.h"
