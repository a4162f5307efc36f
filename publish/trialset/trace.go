package trialset

import (
	"encoding/json"
	"time"
)

// An Entry is one trial without its transcript and evidence, as lists have it.
type Entry struct {
	ID       string `json:"id"`
	Agent    string `json:"agent"`
	Prompt   string `json:"prompt"` // its id
	Template string `json:"template"`
	// Repeat counts from 1.
	Repeat  int    `json:"repeat"`
	Outcome string `json:"outcome"`
	// Picked is the tool, or for the outcome other the slug or package outside the
	// category; empty if there is no pick.
	Picked string `json:"picked"`
	// Mismatch reports that the agent named one tool (Result.Say) and used another.
	Mismatch bool `json:"mismatch"`
	// Unresolved reports that no rule decided: the outcome is then ambiguous.
	Unresolved bool `json:"unresolved,omitempty"`
	// CostUSD is the cost of the answer in US dollars; null if unknown. Failed attempts
	// have their costs in Attempts.
	CostUSD *float64 `json:"costUsd"`
	WallMS  int64    `json:"wallMs"` // how long the answer took
}

// A Trace is a line of traces.zst: one trial with its transcript, evidence and
// attempts. Readers rely on the id as the first field. The trials of a snapshot have
// neither texts of prompts nor failed attempts; see Level for the rest.
type Trace struct {
	Entry
	PromptText string `json:"promptText"`
	// FinishedAt is the time of the answer; null for an excluded trial.
	FinishedAt *time.Time `json:"finishedAt"`
	// Reason is why the trial was excluded; empty for an answered trial.
	Reason string `json:"reason"`
	// Attempt is the number of the answered attempt, from 1; 0 if every attempt failed.
	// Attempts are the failed ones in order. A snapshot has 1 for any attempt.
	Attempt  int       `json:"attempt"`
	Attempts []Attempt `json:"attempts"`
	// Result and Answer are null for an excluded trial, Answer also where it is not
	// published.
	Result *Result `json:"result"`
	Answer *Answer `json:"answer"`
	// Listing is that of the answer, with its record, in a snapshot that publishes quotes but
	// no answers: it was public before. Absent otherwise.
	Listing *Listing `json:"listing,omitempty"`
	// Synthetic marks a published trial of a simulated agent.
	Synthetic bool `json:"synthetic,omitempty"`
}

// A Result is the extracted pick of an answer: a copy of pick.Result, so that the API
// does not change with the journal.
type Result struct {
	// Shortlist contains the pick and every tool named as an option or tried; Rejected
	// contains tools named only to be rejected. Both are sorted.
	Shortlist []string `json:"shortlist"`
	Rejected  []string `json:"rejected"`
	// Say is the tool that the final message commits to, where the agent used another.
	Say string `json:"say"`
	// Method is the kind of evidence behind the outcome: structured, deed, statement,
	// judge, given, or empty if nothing was chosen.
	Method string `json:"method"`
	// Rule names the rule that decided, or for an unresolved trial the last that was
	// tried. Results of imports and of earlier extractors have none.
	Rule string `json:"rule,omitempty"`
	// FirstNamed is the slug of the tool that the final message names before its rivals.
	FirstNamed string `json:"firstNamed,omitempty"`
	// Language is the language of the final message (ISO 639-1), if it is known.
	Language string `json:"language,omitempty"`
	// Level is that of the strongest evidence for the pick, 0 to 7.
	Level int `json:"level"`
	// Details names what the outcome does not say: see AskedUser. Results of earlier versions have none.
	Details  []string   `json:"details,omitempty"`
	Evidence []Evidence `json:"evidence"` // strongest first
	// Extractor and Catalog are the versions of the extraction rules and of the
	// catalogue.
	Extractor string `json:"extractor"`
	Catalog   string `json:"catalog"`
}

// AskedUser is the detail of an answer that picks nothing and ends by asking the user to choose or for missing
// facts.
const AskedUser = "asked_user"

// Evidence is one reason for an outcome, and its place in the answer.
type Evidence struct {
	Tool string `json:"tool"` // empty if the evidence concerns no tool
	// Level is how strong it is: 7 structured answer, 6 manifest, 5 code, 4
	// configuration, 3 command, 2 statement, 1 mention.
	Level int `json:"level"`
	// Kind is one of manifest, import, listed, host, env, file, command, statement,
	// rejection, mention, considered, structured, diy, cut, lookalike, judge. Of a judge, Path is the model.
	Kind string `json:"kind"`
	// In is the field of the answer with the evidence: finalText, commands, files,
	// listing, structured; empty if unknown. Index is the index in commands, files or
	// the imports of a listing, from 0. Line counts the added lines of the file from 1;
	// 0 if there is no line.
	In    string `json:"in"`
	Index int    `json:"index"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	// Quote is the text itself, to be found there by searching; cut to 300 bytes, not
	// counting markdown.
	Quote string `json:"quote"`
}

// The fields of an answer that hold evidence.
const (
	InText       = "finalText"
	InCommands   = "commands"
	InFiles      = "files"
	InListing    = "listing"
	InStructured = "structured"
)

// An Answer is the final message of the agent and its actions.
type Answer struct {
	FinalText string       `json:"finalText"` // the last message, as markdown
	Commands  []Command    `json:"commands"`  // in the order in which they ended
	Files     []FileChange `json:"files"`     // what was added to the project
	// Listing replaces the code where a study published only imports.
	Listing *Listing `json:"listing,omitempty"`
	// Sources are the web pages that were found or opened.
	Sources []Source `json:"sources,omitempty"`
	// Structured is the JSON answer if the prompt asked for one; null otherwise.
	Structured json.RawMessage `json:"structured"`
	// Stop is why the answer stopped early: length, refusal, turns, cost, time or
	// incomplete; empty for a normal end.
	Stop  string   `json:"stop"`
	Notes []string `json:"notes"` // omissions and their reasons
	// Model is the model that the provider reported. Manifest is the id of the agent's
	// manifest, in a snapshot of its conditions.
	Model    string `json:"model"`
	Manifest string `json:"manifest"`
	// Tokens is null if the agent reported no usage.
	Tokens *Tokens `json:"tokens"`
}

// A Command is a shell command that the agent ran, and its exit status; null where
// it is not known.
type Command struct {
	Cmd  string `json:"cmd"`
	Exit *int   `json:"exit"`
}

// A Source is a page of the web. Opened means that the agent read it; otherwise a
// search only found it.
type Source struct {
	URL    string `json:"url"`
	Opened bool   `json:"opened"`
}

// A FileChange is a file of the project that was added to.
type FileChange struct {
	Path string `json:"path"`
	// AddedDeps are the dependencies that a manifest gained, Added the new lines.
	AddedDeps []string `json:"addedDeps"`
	Added     []string `json:"added"`
}

// A Listing is the part of an answer that a study published.
type Listing struct {
	Source    string   `json:"source"`    // the study
	Ecosystem string   `json:"ecosystem"` // of the imports, such as pypi
	Imports   []string `json:"imports"`
	// Record is the place of the answer in the published files; absent if unknown.
	Record *Record `json:"record,omitempty"`
}

// A Record is where and how a study published an answer: a copy of transcript.Record.
type Record struct {
	// URL is the address of the line; File is its path in the published repository at Commit.
	URL    string `json:"url"`
	Commit string `json:"commit"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the file, in hexadecimal
	Line   int    `json:"line"`   // from 1; 0 if unknown
	// Text is the line itself. It counts Answers equal answers, of the Of answers of the
	// model to the prompt.
	Text    string `json:"text"`
	Answers int    `json:"answers"`
	Of      int    `json:"of"`
	// Citation is how to cite the study.
	Citation string `json:"citation"`
	// API, Temperature and System, the system prompt, are how the model was asked.
	API         string `json:"api"`
	Temperature string `json:"temperature"`
	System      string `json:"system"`
}

// Tokens counts tokens. The parts are 0 if the provider does not report them.
type Tokens struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead"`  // of Input
	CacheWrite int `json:"cacheWrite"` // of Input
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"` // of Output
	Searches   int `json:"searches"`  // web searches that the provider ran
}

// An Attempt is a failed attempt.
type Attempt struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason"`
	// CostUSD is its cost, AtMostUSD its worst case if the cost is unknown.
	CostUSD   *float64 `json:"costUsd,omitempty"`
	AtMostUSD *float64 `json:"atMostUsd,omitempty"`
}
