// Package bundle reads run bundles: the scores and trials of one run of a workspace,
// in a folder that never changes. The form is described in publish/bundle, which
// writes them.
//
// Opening a bundle reads the manifest, the scores and the texts of the index, and
// checks their hashes and that of the index. Trials are read where they are asked
// for, and each frame is checked against the index before it is unpacked, so that
// what an answer takes depends on the page and never on the run. A Shelf keeps
// bundles open between requests.
package bundle
