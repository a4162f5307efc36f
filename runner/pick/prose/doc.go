// Package prose reads what the text of an answer says about names, in nine languages.
//
// Normalize returns a text in one Unicode form, without invisible letters and lookalikes. Layout turns markdown into Units: headings, items,
// table rows, quotations and sentences. Tokens splits a sentence into words; a caller
// replaces the words of a name with a slot. A Lexicon matches phrases with slots, such as
// "I'd go with X", and gives each a Class. What the classes mean for a decision is the
// caller's part.
//
// The phrases are data: lexicon/LANGUAGE.txt. FORMAT.md describes them.
package prose
