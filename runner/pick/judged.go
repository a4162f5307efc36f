package pick

// The rules of results that two judges read.
const (
	RuleJudgesAgree    = "judges agree"
	RuleJudgesDisagree = "judges disagree" // or a judgement is invalid
	RuleJudgesUnsure   = "judges cannot tell"
)

// Judged reports whether two judges read the answer, and whether they agreed: on an
// outcome, or that they cannot tell.
func (r Result) Judged() (read, agreed bool) {
	agreed = r.Rule == RuleJudgesAgree || r.Rule == RuleJudgesUnsure
	return agreed || r.Rule == RuleJudgesDisagree, agreed
}
