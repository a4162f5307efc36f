package duck

import "C" // slim.cpp is part of this package
