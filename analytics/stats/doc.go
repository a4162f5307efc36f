// Package stats holds the statistics of pick rates: distributions, intervals of
// a proportion, with and without clusters, paired differences, corrections for
// many tests, confidence sets of ranks, and sequential tests, which stay valid at
// every look.
//
// Results depend on counts alone, and on a seed where a function takes one.
// Probabilities and rates are between 0 and 1. Formulas are from the sources that
// the functions name. Reference values are in testdata/vectors.json.
package stats
