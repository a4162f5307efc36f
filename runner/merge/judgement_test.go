package merge_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/merge"
)

// TestJudgementsAreMerged checks that a judged shard keeps its judgements, with prompts.
func TestJudgementsAreMerged(t *testing.T) {
	root := t.TempDir()
	shards := four(t, root)
	j, err := journal.Open(root, shards[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	run := j.Run()
	trial := run.Trials()[0]
	var refs [2]journal.RawRef
	for i, text := range []string{"its prompt", "its reply"} {
		if refs[i], err = j.Put(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	of := &journal.Judgement{Step: journal.KindResult, Request: "r1", Judge: "gpt", Prompt: &refs[0]}
	if err := j.Append(t.Context(), journal.Record{Kind: journal.KindJudgement, Trial: trial, Attempt: 1, Raw: &refs[1], Judgement: of}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	m, err := merge.Merge(t.Context(), here, "", shards)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range scan(t, here, m.Run.ID) {
		if r.Kind != journal.KindJudgement {
			continue
		}
		found++
		prompt, err1 := journal.ReadRaw(here, m.Run.ID, *r.Judgement.Prompt)
		reply, err2 := journal.ReadRaw(here, m.Run.ID, *r.Raw)
		if string(prompt) != "its prompt" || string(reply) != "its reply" || r.Trial != trial {
			t.Errorf("%+v: prompt %q, %v; reply %q, %v", r, prompt, err1, reply, err2)
		}
	}
	if found != 1 {
		t.Errorf("%d judgements", found)
	}
}
