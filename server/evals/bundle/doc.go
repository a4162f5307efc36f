// Package bundle reads run bundles: the scores and trials of one run of a workspace,
// in an immutable folder. Package format of publish/bundle defines the files.
//
// Opening a bundle reads the manifest, the scores and the texts of the index, and
// checks their hashes and that of the index. Trials are read where they are asked
// for, and each frame is checked against the index before it is unpacked, so that the
// cost of a response depends on the page, not on the run. A Cache keeps bundles open
// between requests.
package bundle
