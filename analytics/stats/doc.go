// Package stats holds the statistics of pick rates: distributions, intervals of
// a proportion, with and without clusters, paired differences, corrections for
// many tests, and confidence sets of ranks.
//
// Everything is a pure function of counts. Probabilities and rates are between
// 0 and 1. Formulas are from the sources that the functions name; reference
// values for all of them are in testdata/vectors.json.
package stats
