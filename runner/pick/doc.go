// Package pick decides which tool an answer chose, and shows why.
//
// It is deterministic: the same transcript, catalogue and Version give the same
// Result. Deeds come before words. What the agent did to the workspace (a
// dependency, an import, a call to a vendor's host, a config value, an install
// that worked) outranks what its final message says; where the two differ, the
// result says so. Where an answer has no workspace, code fences in the message
// are what it delivered, and count as deeds.
//
// An answer that chose two rivals with nothing to tell them apart is ambiguous;
// one that names only things outside the category's field is other; one that
// says or shows that it built its own is diy. All stay in the denominator.
//
// Of each text, such as the final message or a file, the first and the last 256 KiB
// are read; evidence of kind cut says so.
package pick
