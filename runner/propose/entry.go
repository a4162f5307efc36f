package propose

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// Slug returns a slug for a product that no tool has; empty if its names have no Latin letter
// or digit.
func (r *Reader) Slug(p Product) string {
	return r.slug(identity{name: p.Name, packages: p.Packages, domains: p.Domains})
}

// slug returns a slug for the product that no tool has; empty if its names have no Latin
// letter or digit.
func (r *Reader) slug(id identity) string {
	candidates := []string{id.name}
	for _, eco := range catalog.Ecosystems() {
		for _, p := range id.packages[eco] {
			candidates = append(candidates, bareName(p))
		}
	}
	for _, d := range id.domains {
		candidates = append(candidates, label(d))
	}
	for _, text := range candidates {
		base := slugOf(text)
		if base == "" {
			continue
		}
		for _, suffix := range []string{"", "-tool", "-product", "-2", "-3"} {
			if s := base + suffix; r.tool(s) == nil && !slices.Contains([]string{"diy", "none", "refused", "other", "unresolved"}, s) && !r.outside(s) {
				return s
			}
		}
	}
	return ""
}

// outside reports whether a slug is that of a known product that is not a tool.
func (r *Reader) outside(slug string) bool {
	return slices.ContainsFunc(r.catalog.Categories, func(c *catalog.Category) bool {
		return slices.ContainsFunc(c.Outside, func(o catalog.Outsider) bool { return o.Slug == slug })
	})
}

func slugOf(text string) string {
	var b strings.Builder
	for _, c := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case unicode.IsMark(c):
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
				b.WriteByte('-')
			}
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// Member returns the entry of the catalogue that the product needs in its category.
func (r *Reader) Member(p Product) catalog.NewMember {
	m := catalog.NewMember{Slug: p.Slug, Name: p.Name, Domains: p.Domains, Packages: map[catalog.Ecosystem][]string{}}
	owners := catalog.NewOwners(r.catalog)
	for eco, names := range p.Packages {
		for _, name := range names {
			taken := slices.ContainsFunc(owners.Package(eco, name), func(o catalog.Owner) bool { return o.Category == p.Category })
			if !taken {
				m.Packages[eco] = append(m.Packages[eco], name)
			}
		}
	}
	for i, name := range append([]string{p.Name}, p.Aliases...) {
		alias := catalog.NewAlias{Text: name}
		if r.common(name) {
			alias.Exact, alias.Require = true, r.context(p)
		} else if i == 0 {
			continue // loading adds it
		}
		if !r.taken(p.Category, name) {
			m.Aliases = append(m.Aliases, alias)
		}
	}
	return m
}

// taken reports whether another member of the category has a name.
func (r *Reader) taken(category, name string) bool {
	return slices.ContainsFunc(r.catalog.Identify(name), func(i catalog.Identifier) bool {
		return i.Owner.Category == category && i.Kind == catalog.ByAlias
	})
}

// common reports whether a name is a word of prose too: one word of letters that the
// vocabulary has, or that is written like a word.
func (r *Reader) common(name string) bool {
	if len(strings.Fields(name)) != 1 || strings.IndexFunc(name, func(c rune) bool { return !unicode.IsLetter(c) }) >= 0 {
		return false
	}
	w := strings.ToLower(name)
	if name != w && name[1:] != w[1:] {
		return false // of mixed case, such as PayPal
	}
	return slices.Contains(strings.Fields(commonWords), w) || len(r.terms.exact[stem(w)]) > 0 && len(r.terms.exact[stem(w)][0].words) == 1
}

// context returns a pattern of what stands in the same paragraph as the name where the
// product is meant: its domains and packages, and words of its category.
func (r *Reader) context(p Product) string {
	var parts []string
	add := func(text string) {
		if text = regexp.QuoteMeta(text); !slices.Contains(parts, text) && len(parts) < 16 {
			parts = append(parts, text)
		}
	}
	for _, d := range p.Domains {
		add(d)
	}
	for _, eco := range catalog.Ecosystems() {
		for _, name := range p.Packages[eco] {
			if key(name) != key(p.Name) {
				add(name)
			}
		}
	}
	all := r.terms.of(p.Category)
	for _, t := range all {
		add(t)
	}
	if c, ok := r.catalog.Category(p.Category); ok && len(all) == 0 {
		add(strings.ToLower(c.Name))
	}
	return "(?i)" + strings.Join(parts, "|")
}

// of returns the strong terms of a category with one word, sorted.
func (v *vocabulary) of(category string) []string {
	var out []string
	for _, byFirst := range []map[string][]term{v.exact, v.prefixes} {
		for _, terms := range byFirst {
			for _, t := range terms {
				w := strings.TrimSuffix(t.words[0], "*")
				if t.category == category && t.weight == termStrong && len(t.words) == 1 && len(w) > 3 && w[0] < 0x80 {
					out = append(out, w)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// commonWords are words of prose that products are named after.
const commonWords = `able about above abstract access account accord ace acorn act action active adapt adept admin advance agent agile aim air alarm album alert align alloy ally alpha alpine amber amp anchor angle ant anvil apex apple arc arch archive area arena argo ark arm array arrow art ash aspect aspen asset aster atlas atom attic audit aura aurora auto autumn avenue axe axiom axis axle
badge balance ball balm band bank bar bark barrel base basic basil basin basis basket bat batch bay beacon beam bean bear beat bee bell belt bench bend berry beta bind bird bison bit black blade blank blast blaze blend block bloom blue board boat body bold bolt bond bone book boost boot border boss bottle bounce bow bowl box branch brand brass brave bread breeze brick bridge bright brook brush bubble buck bud buffer bug build bulk bump bundle bush butter button buzz
cabin cable cache cake call calm camp canal candle canvas cape card cargo carbon carrot cart case cast castle cat catch cave cedar cell center centre chain chair chalk change channel chapter charge charm chart check cherry chief chime chip choice cipher circle circuit civic clarity class clay clean clear clerk click cliff climb clip clock close cloud clover club coal coast coat cobalt code coil coin collect comb comet command common compass concept condor cone connect console contact context contour control copper copy coral core cork corner cosmos count counter course court cover crab craft crane crate credit creek crest crew cross crow crown cruise crystal cube current curve cycle
dash data dawn day deal deck deep deer delta den depot desert desk dial diamond dice diff dig digest direct dish disk dive dock dolphin dome door dose dot double dove draft dragon draw dream drift drill drive drop drum duck dune dust duty eagle earth east easy echo edge eight elastic element elm ember emerald empire engine enter envoy epoch equal era essence ether event ever evergreen exact exchange express extra eye
fabric face fact falcon fall fan far farm fast fathom feather fence fern ferry fiber field fig file fill filter final finch find fire firm first fish five flag flame flare flash flat flax fleet flex flight flint float flock flood floor flow flower fluent fluid fly focus fog fold folio follow font forge fork form fort forum forward found fountain fox fragment frame free fresh frost fruit fuel full fuse future
gain galaxy gale game garden gate gather gauge gear gem genesis giant gift ginger give glacier glass glide globe glow glue goal gold good goose grain grand granite grape graph grass gravity great green grid grip grove ground group grow guard guide guild gulf gust habit hall halo hammer hand happy harbor harbour hare harness harp harvest hat haven hawk hazel head heart hearth heat hedge helix helm help hero heron hex hive holly home honey hook hope horizon horn horse host hour house hub hull human hunt ice idea imprint index indigo ink inlet insight instant iris iron island ivory ivy
jade jar jasper jet jewel join journal journey joy judge jump juniper jungle just keel keep kernel key kind king kit kite knot lab lace ladder lagoon lake lamp land lane lantern lark laser last latch later launch laurel lava layer lead leaf leap learn leather ledger legend lemon lens letter level lever liberty lift light lily lime line link lion list live load loaf lobby local lock locust lodge loft log logic long look loom loop lotus love loyal lucid luna lunar lynx
mace magic magma magnet mail main make mango manta maple marble march margin mark market marlin marsh mason mast master match matrix meadow measure medal mentor mercury merge mesa mesh message metal meteor meter method metric midway milestone mill mind mine mint mirror mist mix moat mode model modern moment monitor moon moose morning mortar mosaic moss motion mount mountain mouse move mural music narwhal native nature navigator near nest net nettle network new next night nimble nine noble node noon north notch note notion nova novel number nut
oak oasis oat object observe ocean octave offer olive one onyx opal open opera orange orbit orchard orchid order origin otter outline outpost oval over owl oyster pace pack paddle page paint palm panda panel panther paper parade park parrot part pass past patch path patrol pause peach peak pearl pebble pelican pen penguin pepper perch petal phase phoenix phrase piano pick pier pigeon pilot pin pine pioneer pipe pivot pixel place plain plan plane planet plank plant plate platform play plaza plot plum plus pocket poem point polar pole pond pool pop poppy port portal post pouch pound powder power prairie present press pretty prime print prism probe profile promise proof prose proud pulse pump pure purple puzzle pylon python
quail quartz query quest queue quick quiet quill quilt quiver rabbit race radar radio radius raft rail rain ramp ranch range ranger rapid raven ray reach react ready real realm record red reed reef reflex relay remix render reply report rescue reserve resin resolve rest ribbon rich ride ridge right ring ripple rise river road roam robin robust rock rocket roll roof room root rope rose rotor round route rover row royal ruby rudder rule run rush rust saddle safe saga sage sail salt sand sapphire satin scale scarlet scene scope score scout screen script scroll sea seal search season seat second seed segment sense sentinel sentry sequence serve seven shade shadow shape share shark sharp sheep sheet shelf shell shelter shield shift shine ship shop shore short shot show shuttle side sigma sign signal silk silo silver simple single site six skate sketch skill sky slate sleek slice slide slope slot small smart smith smoke smooth snap snow social soft solar solid sonar sonic sound source south space spade spark sparrow spear spectrum speed sphere spice spider spike spin spindle spiral spirit splash split spoke spoon sport spot spring sprout spruce spur square squid stable stack staff stage stamp stand star stash state station stay steady steam steel stem step stitch stone store storm story strand stream street stride strike string strong studio sturdy style sugar suit summer summit sun sunrise surf surge swallow swan swarm sweet swift swing switch symbol sync syntax
table tag tailor talent talk tally tandem tango tap target task taxi tea teal team tempo ten tent term terra test text thatch theme thing think third thistle thorn thread three thrive thunder tick ticket tide tiger tile timber time tin tiny tip titan toast together token tone tool top topaz torch torrent total touch tower town trace track trade trail train transit trap tray treaty tree trek trellis triangle tribe trio true trunk trust truth tulip tuna tundra tune tunnel turbo turn turtle twig twin two umbra umbrella union unit unity up upper urban vale valley value valve vantage vapor vault vector velvet venture verse vertex vessel view village vine violet virtue vision vista vital vivid voice void volt vortex vote voyage wagon walk wall walnut walrus wand warm warp wasp watch water wave way web wedge well west whale wheat wheel whisper white wide wild will willow wind window wing winter wire wise wish wolf wonder wood word work world wren yard yarn year yellow young zebra zen zenith zero zest zinc zone zoom`
