// Package stats holds the statistics of pick rates: rates of a Design of prompt families
// and agents with their intervals, comparisons of tools (Design.Compare), changes between
// measurements (ChangeOf), corrections for many tests, sequential tests, which stay valid
// at every look, and the methods for independent trials to compare these with.
//
// Results depend on counts alone, and on a seed where a function takes one.
// Probabilities and rates are between 0 and 1. Formulas are from the sources that
// the functions name. Reference values are in testdata/vectors.json.
package stats
