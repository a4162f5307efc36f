package prose

// A Class is what a phrase says about the name in its slot.
type Class int

// The classes of phrases. Those behind Past have no slot.
const (
	Commits Class = iota // an explicit choice: "I'd go with X", "X it is"
	Advises              // an instruction: "use X"
	Reports              // work that was done: "mail goes out through X"
	Praises              // the best of the field: "X is the right fit"
	Suits                // speaks for it: "X does both"
	Options              // one to consider: "X would also work"
	Behind               // a second choice: "X is my plan B"
	Rest                 // for all other cases: "otherwise X"
	Faults               // speaks against it: "X is expensive"
	Rejects              // turned down: "X is overkill"
	Past                 // used before or in passing: "the existing X call"

	LabelPick    // a heading or label of the choice: "Recommendation"
	LabelOptions // "Alternatives"
	LabelRejects // "Turned down"
	LabelWhyNot  // "Why not the others": turned down, but for what its sentence calls an option
	LabelPast    // "Removed"
	LabelVerdict // the head of a column of verdicts

	TakesIt   // commits to what was named last: "that's the one"
	DropsIt   // turns down what was named last: "out"
	Retracts  // takes back what was said last: "scratch that"
	Corrects  // replaces what was chosen before by what is chosen behind: "wait,"
	Replaces  // "instead", behind a sentence that speaks against what was chosen
	Unable    // says that something lacks or cannot do a thing: "can't", "has no"
	Besides   // adds to what was chosen: "also"
	PassesIt  // what was named last is an option: "usable"
	Ties      // no preference among those named: "either would do"
	Ranks     // the names that follow are in the order of preference: "best first"
	Sets      // the names that follow are used together: "my suggested stack"
	Builds    // own work: "I wrote it myself"
	Defers    // no choice yet: "it depends on"
	Unchanged // "is untouched"
	Offers    // "shall I": a question that asks for nothing
	Minus     // words that speak against what a sentence is about
	Plus      // and for it
	Made      // work that was done in the answer: "added"
	Refuses   // "I can't recommend"

	Condition // "if", "for larger teams"
	Later     // "one day"
	Unreal    // "would have been"
	Habit     // what is chosen where nothing speaks against it: "usually"
	Quoted    // the words of others follow: "the docs say that"
	Negation  // "not"
	NoNegation
	Without // a negation of what follows it at once: "without"
	Speaker // begins a clause of the answer's own voice: "I"
	And
	Or
	Lead       // may stand before the beginning of a phrase: "so"
	Opposing   // begin a clause that opposes the one before: "but"
	Common     // frequent words, by which the language is recognised
	Barrier    // words that no gap of a phrase reaches over: "than"
	Serves     // stands between what is chosen and who provides it: "PostgreSQL on Neon"
	Complement // words that may follow a name in a sentence without a verb: "with"
	Verb       // frequent verbs
	Removes    // words of removal: "deleted"
	You        // words that address the reader
	Limit      // limits what was said to a case: "for"
	Here       // behind such a word says that the case is this one: "this"
	Article    // may stand between joined names: "the"
	NameCue    // words behind which a capital marks a name, in a language where all nouns have one
	Dangling   // words that no sentence ends with
	Ordinal1   // stands for the first of those named
	Ordinal2
	Ordinal3
	OrdinalLast
	Topic // what a sentence is about, for neither side: "pricing" (package reason)

	classes
)

// classNames are the sections of a lexicon file.
var classNames = [classes]string{
	"commits", "advises", "reports", "praises", "suits", "options", "behind", "rest", "faults", "rejects", "past",
	"label pick", "label options", "label rejects", "label why not", "label past", "label verdict",
	"takes it", "drops it", "retracts", "corrects", "replaces", "unable", "besides", "passes it", "ties", "ranks", "sets", "builds", "defers", "unchanged", "offers", "minus", "plus", "made", "refuses",
	"condition", "later", "unreal", "habit", "quoted", "negation", "no negation", "without", "speaker", "and", "or", "lead", "opposing", "common", "barrier", "serves", "complement", "verb", "removes", "you", "limit", "here", "article", "name cue", "dangling",
	"first", "second", "third", "last", "topic",
}

func (c Class) String() string { return classNames[c] }
