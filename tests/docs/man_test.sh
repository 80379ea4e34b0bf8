# Man pages of all programs' pages: groff has nothing to say about them, and nothing of Markdown is left: man_test.sh PROJECT_DIR GROFF
set -uo pipefail
cd "$1" || exit 2
groff=$2 failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
for page in aoe atc aoe_run aoe_bank aoe_compare aoe_quantize aoe_sign make_model msprof; do
  text=$(scripts/man_page 1.0 docs/$page.md | "$groff" -man -Tutf8 -P-c -ww -K utf8 2>&1 | sed 's/.\x08//g') || fail "$page does not become a man page"
  grep -q 'groff\|troff:' <<<"$text" && fail "$page: $(grep -m1 'troff:' <<<"$text")"
  grep -qE "^ *$page +- +[a-z]" <<<"$text" || fail "$page has no line under NAME"
  grep -qE '\]\(|^ *```|^ *\| ' <<<"$text" && fail "$page: Markdown is left: $(grep -m1 -E '\]\(|^ *```|^ *\| ' <<<"$text")"
done
[ "$failures" -eq 0 ] && echo "9 pages"
[ "$failures" -eq 0 ]
