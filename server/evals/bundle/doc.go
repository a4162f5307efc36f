// Package bundle reads run bundles: the scores and trials of one run of a workspace,
// in an immutable folder. publish/bundle/format and publish/trialset define the files.
//
// Opening a bundle reads the manifest, the scores and the texts of the index, and
// checks their hashes and that of the index. A Cache keeps bundles open between requests.
package bundle
