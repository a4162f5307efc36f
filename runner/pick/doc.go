// Package pick decides which tool an answer chose, and shows why.
//
// It is deterministic: the same transcript, catalogue and Version give the same
// Result. Actions outrank statements: changes of the workspace (a dependency, an import,
// a call to a vendor's host, a config value, a successful install) outrank the final
// message; the result records a mismatch. In an answer without a workspace, files that its
// commands write count as one, otherwise the code fences of the message: those that the
// answer delivers. Fences of alternatives are options, the rejected or old way is nothing.
//
// Comments, dry runs, failed and undone installs are no actions. Actions in tests,
// documents and examples, of developers' tools and of what another tool of the family
// builds on are weak: they lose to others.
//
// An answer that chose two rivals without a preference is ambiguous; one that names only
// tools outside the category is other; one that built its own is diy. All stay in the
// denominator.
//
// Of each text, such as the final message or a file, the first and the last 256 KiB
// are read; evidence of kind cut marks longer ones.
package pick
