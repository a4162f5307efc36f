// Package analytics turns counts of trials into leaderboards: pick rates with
// intervals, ranks with the set of ranks the data allow, who beats whom, and
// the doubts that belong to each number.
//
// The steps are always the same. The trial store counts trials that are alike
// (Cell). Rank makes a Board of a category's cells. Check tests a board against
// the definitions; publishing refuses a board that fails. A Report is one
// tool's part of a board, a Diff the changes between two sets of boards.
//
// All rates have the same denominator, the valid trials of the category,
// whatever their outcome, so they need not sum to one.
package analytics
