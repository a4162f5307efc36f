package main

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"
)

// patternRows reads crawler-user-agents. Nearly all of its patterns are plain
// words; the others are unfolded into all the words that they match, or shortened
// to the longest word that they need, so that no regular expression runs when a
// request is looked at.
func patternRows(raw []byte) ([]string, error) {
	var list []struct {
		Pattern string
		Tags    []string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var rows []string
	for _, item := range list {
		tree, err := syntax.Parse(item.Pattern, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", item.Pattern, err)
		}
		words, err := unfold(tree.Simplify())
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", item.Pattern, err)
		}
		for _, w := range words {
			w = longestPart(w)
			if len(strings.TrimPrefix(w, "^")) < 4 && !strings.HasPrefix(w, "^") || len(w) < 4 || skippedPattern(w) || strings.ContainsAny(w, "\t\n") {
				continue
			}
			rows = append(rows, w+"\t"+classOf(item.Tags))
		}
	}
	return rows, nil
}

// gap is the placeholder of any text in an unfolded word.
const gap = "\x00"

// unfold returns the words that a pattern matches.
func unfold(re *syntax.Regexp) ([]string, error) {
	switch re.Op {
	case syntax.OpLiteral:
		return cases(re), nil
	case syntax.OpBeginText, syntax.OpBeginLine:
		return []string{"^"}, nil
	case syntax.OpEndText, syntax.OpEndLine, syntax.OpEmptyMatch:
		return []string{""}, nil
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return []string{gap}, nil
	case syntax.OpCharClass:
		return letters(re.Rune), nil
	case syntax.OpCapture:
		return unfold(re.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words, err := unfold(sub)
			if err != nil {
				return nil, err
			}
			all = append(all, words...)
		}
		return all, nil
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range re.Sub {
			words, err := unfold(sub)
			if err != nil {
				return nil, err
			}
			var next []string
			for _, a := range all {
				for _, w := range words {
					next = append(next, a+w)
				}
			}
			all = next
		}
		return all, nil
	default:
		return nil, fmt.Errorf("cannot unfold %s", re)
	}
}

// cases returns the spellings of a literal: several for letters that match both cases,
// as in [bB]ot.
func cases(re *syntax.Regexp) []string {
	all := []string{""}
	for _, r := range re.Rune {
		spelled := []string{string(r)}
		if lower := strings.ToLower(string(r)); re.Flags&syntax.FoldCase != 0 && lower != string(r) {
			spelled = append(spelled, lower)
		}
		var next []string
		for _, a := range all {
			for _, s := range spelled {
				next = append(next, a+s)
			}
		}
		all = next
	}
	return all
}

// letters returns the members of a small class, or a gap for a large one.
func letters(ranges []rune) []string {
	var all []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if all = append(all, string(r)); len(all) > 4 {
				return []string{gap}
			}
		}
	}
	return all
}

// longestPart returns the longest part of a word between gaps.
func longestPart(word string) string {
	best := ""
	for part := range strings.SplitSeq(word, gap) {
		if len(part) > len(best) {
			best = part
		}
	}
	if strings.Contains(best[min(1, len(best)):], "^") { // an anchor inside an alternative
		best = best[strings.LastIndex(best, "^"):]
	}
	return best
}

// nameRows reads ai.robots.txt.
func nameRows(raw []byte) ([]string, error) {
	var list map[string]struct {
		Function string `json:"function"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var rows []string
	seen := map[string]bool{}
	for name, item := range list {
		name, _, _ = strings.Cut(name, "/")
		token := strings.ToLower(name)
		if skippedName(token) || seen[token] {
			continue
		}
		class := classOfFunction(item.Function)
		for other, o := range list { // the same token in another spelling: the better known of the two
			if strings.EqualFold(other, name) && classOfFunction(o.Function) != "training_crawler" {
				class, name = classOfFunction(o.Function), min(name, other)
			} else if strings.EqualFold(other, name) {
				name = min(name, other)
			}
		}
		seen[token] = true
		rows = append(rows, token+"\t"+name+"\t"+class)
	}
	return rows, nil
}

// assistantRows reads matomo's list of assistants.
func assistantRows(raw []byte) ([]string, error) {
	var list map[string][]string
	if err := yaml.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var rows []string
	for name, hosts := range list {
		for _, host := range hosts {
			rows = append(rows, host+"\t"+familyOf(name))
		}
	}
	return rows, nil
}
