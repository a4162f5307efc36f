// Package gather reads the trials of a run from its journal and writes them as trial files
// (package trialset): for a run bundle as they are, for a snapshot redacted and shortened.
package gather
