package highlight

// A language says what its tokens look like.
type language struct {
	comments []string          // what begins a comment, to the end of the line
	block    [2]string         // what begins and ends a longer one
	quotes   string            // what strings begin and end with; those of ` may have several lines
	keyAt    byte              // what follows a key: : or =
	sigils   string            // what variables begin with
	words    map[string]string // classes of words
	first    bool              // the first word of a line is a directive
	sections bool              // lines in brackets are sections
	tags     bool              // markup: strings and names have a meaning within < and >
}

// languageOf returns the language of a block of code; false for those that are not coloured.
func languageOf(name string) (language, bool) {
	switch name {
	case "sh":
		return language{comments: []string{"#"}, quotes: `'"`, sigils: "$", words: words(
			"if then else elif fi for while until do done case esac in function return exit export set cd echo eval exec local readonly source trap unset", "true false")}, true
	case "js", "ts":
		return language{comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "'\"`", words: words(
			"as async await break case catch class const continue debugger default delete do else enum export extends finally for from function if implements import in instanceof interface let new of private public readonly return static super switch this throw try type typeof var void while with yield",
			"true false null undefined NaN Infinity")}, true
	case "go":
		return language{comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: "'\"`", words: words(
			"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"true false nil iota")}, true
	case "python":
		return language{comments: []string{"#"}, quotes: `'"`, sigils: "@", words: words(
			"and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield",
			"True False None")}, true
	case "ruby":
		return language{comments: []string{"#"}, quotes: "'\"`", sigils: "@$", words: words(
			"alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo require rescue retry return self super then undef unless until when while yield",
			"true false nil")}, true
	case "php":
		return language{comments: []string{"//", "#"}, block: [2]string{"/*", "*/"}, quotes: `'"`, sigils: "$", words: words(
			"abstract and array as break case catch class const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include instanceof interface match namespace new or private protected public readonly require require_once return static switch throw trait try use var while yield php",
			"true false null")}, true
	case "json":
		return language{quotes: `"`, keyAt: ':', words: words("", "true false null")}, true
	case "yaml":
		return language{comments: []string{"#"}, quotes: `'"`, keyAt: ':', words: words("", "true false null")}, true
	case "toml":
		return language{comments: []string{"#"}, quotes: `'"`, keyAt: '=', sections: true, words: words("", "true false")}, true
	case "ini":
		return language{comments: []string{"#", ";"}, keyAt: '=', sections: true}, true
	case "nginx", "caddyfile", "apache":
		return language{comments: []string{"#"}, quotes: `'"`, sigils: "$", first: true, words: words("", "on off")}, true
	case "html":
		return language{block: [2]string{"<!--", "-->"}, quotes: `'"`, keyAt: '=', tags: true}, true
	}
	return language{}, false
}
