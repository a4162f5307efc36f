package progress

import (
	"charm.land/lipgloss/v2"
)

// A palette says what is known of the terminal's background.
type palette int

const (
	unknown palette = iota
	dark
	light
)

// styles are the few colours of the view; text has that of the terminal.
type styles struct{ title, bar, mid, band, track, hold, dim, bad, key lipgloss.Style }

// newStyles returns the ramp and the colours of text of the site's style sheet. On an unknown
// background they are of medium lightness, which both kinds show. What the terminal
// cannot show is reduced where it is written.
func newStyles(p palette) styles {
	fg := func(onUnknown, onDark, onLight string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(lipgloss.Color([]string{unknown: onUnknown, dark: onDark, light: onLight}[p]))
	}
	return styles{
		title: lipgloss.NewStyle().Bold(true),
		bar:   fg("#22867a", "#74d6c6", "#0a6b60"),
		mid:   fg("#3fa99a", "#3fa99a", "#2c9486"),
		band:  fg("#74bdb1", "#2a7b70", "#74bdb1"),
		track: fg("#8a949b", "#454d54", "#c9ced2"),
		dim:   fg("#7b868e", "#a3adb5", "#56606a"),
		hold:  fg("#9a6b00", "#f4dfae", "#644200"),
		bad:   fg("#cf3f36", "#ff9d94", "#a3211b"),
		key:   fg("#22867a", "#6fd3c3", "#0a6459").Bold(true),
	}
}
