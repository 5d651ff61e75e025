#!/bin/sh
# The step of action.yml: size changes of models since ARENAUT_BASE go into the summary of the job, and into one comment
# of the pull request ARENAUT_COMMENT_ON, which later runs write anew. Exits as `arenaut diff` does: 1 where one grew.
# Without a base (none given, or the zeros of a branch's first push) there is nothing to compare.
set -eu

mark='<!-- arenaut size changes -->'
report=$RUNNER_TEMP/arenaut.md
case $ARENAUT_BASE in
*[!0]*) ;;
*) printf '%s\n' "## Memory of models" "" "There is no base to compare with." >> "$GITHUB_STEP_SUMMARY"
    exit 0 ;;
esac
has_base=true
git cat-file -e "$ARENAUT_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$ARENAUT_BASE" || has_base=false

set -f # patterns are git's, and no names of files here
set -- ${ARENAUT_GROWTH:+--fail-on-growth="$ARENAUT_GROWTH"}
# shellcheck disable=SC2086 # several flags
set -- "$@" $ARENAUT_FLAGS
old_ifs=$IFS IFS='
'
for pattern in $ARENAUT_MODELS; do set -- "$@" --only="$pattern"; done
IFS=$old_ifs

rc=0
arenaut-changes --base="$ARENAUT_BASE" --markdown "$@" > "$report.tables" 2> "$report.errors" || rc=$?
cat "$report.errors" >&2
{
    echo "$mark"
    echo "## Memory of models"
    echo
    if ! $has_base; then echo "There is no base to compare with: $ARENAUT_BASE cannot be fetched."
    elif [ -s "$report.tables" ]; then cat "$report.tables"
    elif [ "$rc" = 0 ]; then echo "No model changed."; fi
    sed 's/^/    /' "$report.errors"
} > "$report"
cat "$report" >> "$GITHUB_STEP_SUMMARY"

# Only a comment that the token's own account wrote is written anew: anyone can begin theirs with the mark.
comment() {
    comments=repos/$GITHUB_REPOSITORY/issues
    me=$(gh api graphql -f query='{viewer{login}}' --jq .data.viewer.login) || return
    ids=$(gh api --paginate "$comments/$ARENAUT_COMMENT_ON/comments" \
        --jq ".[] | select(.user.login == \"$me\" and (.body | startswith(\"$mark\"))) | .id") || return
    id=$(echo "$ids" | head -n 1)
    if [ -n "$id" ]; then gh api --silent -X PATCH "$comments/comments/$id" -F body=@"$report"
    else gh api --silent "$comments/$ARENAUT_COMMENT_ON/comments" -F body=@"$report"; fi
}
if [ -n "$ARENAUT_COMMENT_ON" ]; then
    comment || echo "warning: no comment was written (the token of a fork's pull request may only read)" >&2
fi
exit "$rc"
