// Package share draws what leads from other places to a page: pictures for links (Open
// Graph), badges, and feeds. It is pure: text and numbers in, bytes out.
package share

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

//go:embed inter-regular.ttf inter-bold.ttf
var fonts embed.FS

// The size of a picture, in pixels.
const (
	Width  = 1200
	Height = 630
)

// A Picture is what the picture for a link shows: a small line, a title of at most three
// lines, up to five rows with bars, and one or two lines at the bottom. Longer text is cut.
type Picture struct {
	Small, Title, Foot string
	Rows               []Row
}

// A Row is a bar of a picture: Share is 0 to 1, Value its text. The first row and those with First are dark. Low and High
// are the interval of Share, which is drawn where they differ.
type Row struct {
	Name, Value string
	Share       float64
	First       bool
	Low, High   float64
}

// A Painter draws pictures. Its methods are safe for concurrent use.
type Painter struct{ regular, bold *opentype.Font }

// NewPainter parses the fonts.
func NewPainter() (*Painter, error) {
	p := &Painter{}
	for name, to := range map[string]**opentype.Font{"inter-regular.ttf": &p.regular, "inter-bold.ttf": &p.bold} {
		data, err := fonts.ReadFile(name)
		if err == nil {
			*to, err = opentype.Parse(data)
		}
		if err != nil {
			return nil, fmt.Errorf("font %s: %w", name, err)
		}
	}
	return p, nil
}

// The colours of pictures: those of the pages in the light.
func ink() color.Color    { return color.RGBA{0x15, 0x19, 0x1c, 0xff} }
func soft() color.Color   { return color.RGBA{0x56, 0x60, 0x6a, 0xff} }
func paper() color.Color  { return color.RGBA{0xfa, 0xfa, 0xf8, 0xff} }
func track() color.Color  { return color.RGBA{0xe6, 0xe9, 0xea, 0xff} }
func accent() color.Color { return color.RGBA{0x0a, 0x64, 0x59, 0xff} }
func light() color.Color  { return color.RGBA{0x6f, 0xd3, 0xc3, 0xff} }

const (
	margin   = 72
	rowRoom  = 52
	footRoom = 30
	maxRows  = 5
	maxLines = 3
)

// PNG draws a picture.
func (p *Painter) PNG(pic Picture) ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, Width, Height), palette())
	c := &canvas{p: p, img: image.NewRGBA(img.Rect)}
	draw.Draw(c.img, c.img.Rect, image.NewUniform(paper()), image.Point{}, draw.Src)
	c.mark(margin, 48)
	c.text(pic.Small, margin+64, 80, 26, p.regular, soft(), Width-2*margin-64)
	size := 60.0
	lines := c.wrap(pic.Title, size, p.bold, Width-2*margin, maxLines)
	if len(pic.Rows) > 3 && len(lines) > 2 {
		size = 48
		lines = c.wrap(pic.Title, size, p.bold, Width-2*margin, maxLines)
	}
	foot := c.wrap(pic.Foot, 24, p.regular, Width-2*margin, 2)
	y := 110 + int(size)
	for _, line := range lines {
		c.text(line, margin, y, size, p.bold, ink(), Width-2*margin)
		y += int(size * 1.2)
	}
	rows := pic.Rows[:min(len(pic.Rows), maxRows, max(0, (Height-28-footRoom*len(foot)-y)/rowRoom))]
	y += 4 - 14*(len(foot)-1) // a second line needs room
	for i, row := range rows {
		c.row(row, y+i*rowRoom, i == 0 || row.First)
	}
	for i, line := range foot {
		c.text(line, margin, Height-36-footRoom*(len(foot)-1-i), 24, p.regular, soft(), Width-2*margin)
	}
	if c.err != nil {
		return nil, c.err
	}
	reduce(img, c.img)
	var buf bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, img)
	return buf.Bytes(), err
}

// reduce copies a picture into the palette. It has few colours, so each is looked up once.
func reduce(to *image.Paletted, from *image.RGBA) {
	known := map[[3]uint8]uint8{}
	for i := range to.Pix {
		c := [3]uint8(from.Pix[4*i : 4*i+3])
		at, ok := known[c]
		if !ok {
			at = uint8(to.Palette.Index(color.RGBA{c[0], c[1], c[2], 0xff})) //nolint:gosec // the palette has fewer than 256 colours
			known[c] = at
		}
		to.Pix[i] = at
	}
}

// palette holds the colours of a picture and the steps between them that edges need.
func palette() (out color.Palette) {
	mix := func(a, b color.Color, t int) color.Color {
		x, y := a.(color.RGBA), b.(color.RGBA)
		m := func(u, v uint8) uint8 { return uint8((int(u)*(15-t) + int(v)*t) / 15) }
		return color.RGBA{m(x.R, y.R), m(x.G, y.G), m(x.B, y.B), 0xff}
	}
	for _, pair := range [][2]color.Color{{paper(), ink()}, {paper(), soft()}, {paper(), accent()}, {paper(), track()}, {accent(), color.RGBA{255, 255, 255, 255}}, {accent(), light()}, {track(), accent()}} {
		for t := range 16 {
			out = append(out, mix(pair[0], pair[1], t))
		}
	}
	return out
}

// A canvas is a picture that is being drawn. It keeps the first error.
type canvas struct {
	p   *Painter
	img *image.RGBA
	err error
}

func (c *canvas) face(f *opentype.Font, size float64) font.Face {
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil && c.err == nil {
		c.err = err
	}
	return face
}

// text draws one line at its base line, shortened to a width.
func (c *canvas) text(s string, x, y int, size float64, f *opentype.Font, ink color.Color, width int) {
	face := c.face(f, size)
	if face == nil {
		return
	}
	defer func() { _ = face.Close() }() // nothing is open
	s = fit(face, s, width)
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// fit shortens a text to a width, with an ellipsis.
func fit(face font.Face, s string, width int) string {
	if font.MeasureString(face, s).Ceil() <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && font.MeasureString(face, string(runes)+"…").Ceil() > width {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}

// wrap breaks a text into lines of a width. The last of most lines has the rest, which may be wider.
func (c *canvas) wrap(s string, size float64, f *opentype.Font, width, most int) []string {
	face := c.face(f, size)
	if face == nil {
		return nil
	}
	defer func() { _ = face.Close() }() // nothing is open
	var lines []string
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		if last >= 0 && (font.MeasureString(face, lines[last]+" "+word).Ceil() <= width || len(lines) == most) {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// row draws a name, a bar and its value.
func (c *canvas) row(r Row, y int, first bool) {
	const nameWidth, valueWidth = 320, 130
	f, fill := c.p.regular, light()
	if first {
		f, fill = c.p.bold, accent()
	}
	c.text(r.Name, margin, y+36, 30, f, ink(), nameWidth-24)
	from, full := margin+nameWidth, Width-2*margin-nameWidth-valueWidth
	c.bar(from, y+14, full, 26, track())
	if w := int(min(max(r.Share, 0), 1) * float64(full)); w > 0 {
		c.bar(from, y+14, max(w, 4), 26, fill)
	}
	if low, high := int(max(r.Low, 0)*float64(full)), int(min(r.High, 1)*float64(full)); low < high {
		c.bar(from+low, y+26, high-low, 2, ink())
		c.bar(from+low, y+20, 2, 14, ink())
		c.bar(from+high-2, y+20, 2, 14, ink())
	}
	c.text(r.Value, Width-margin-valueWidth+20, y+36, 30, c.p.bold, ink(), valueWidth-20)
}

func (c *canvas) bar(x, y, w, h int, fill color.Color) {
	draw.Draw(c.img, image.Rect(x, y, x+w, y+h), image.NewUniform(fill), image.Point{}, draw.Src)
}

// mark draws the mark of firstpick, 48 pixels wide.
func (c *canvas) mark(x, y int) {
	const scale = 48.0 / 32
	polygon := func(fill color.Color, points ...[2]float32) {
		r := vector.NewRasterizer(Width, Height)
		for i, p := range points {
			px, py := float32(x)+p[0]*scale, float32(y)+p[1]*scale
			if i == 0 {
				r.MoveTo(px, py)
			} else {
				r.LineTo(px, py)
			}
		}
		r.ClosePath()
		r.Draw(c.img, c.img.Rect, image.NewUniform(fill), image.Point{})
	}
	polygon(accent(), [2]float32{3, 0}, [2]float32{29, 0}, [2]float32{32, 3}, [2]float32{32, 29}, [2]float32{29, 32}, [2]float32{3, 32}, [2]float32{0, 29}, [2]float32{0, 3})
	polygon(color.White, [2]float32{10, 11.5}, [2]float32{16.5, 7}, [2]float32{19, 7}, [2]float32{19, 25}, [2]float32{15, 25}, [2]float32{15, 12}, [2]float32{10, 15})
	polygon(light(), [2]float32{22, 21}, [2]float32{26, 21}, [2]float32{26, 25}, [2]float32{22, 25})
}
