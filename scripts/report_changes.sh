#!/bin/sh
# The step of action.yml: size changes of models since ARENAUT_BASE go into the summary of the job, and into one comment
# of the pull request ARENAUT_COMMENT_ON, which later runs write anew. Exits as `arenaut diff` does: 1 where one grew.
set -eu

mark='<!-- arenaut size changes -->'
report=$RUNNER_TEMP/arenaut.md
git cat-file -e "$ARENAUT_BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$ARENAUT_BASE"

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
    if [ -s "$report.tables" ]; then cat "$report.tables"; else echo "No model changed."; fi
    sed 's/^/    /' "$report.errors"
} > "$report"
cat "$report" >> "$GITHUB_STEP_SUMMARY"

if [ -n "$ARENAUT_COMMENT_ON" ]; then
    comments=repos/$GITHUB_REPOSITORY/issues
    id=$(gh api --paginate "$comments/$ARENAUT_COMMENT_ON/comments" \
        --jq ".[] | select(.body | startswith(\"$mark\")) | .id" | head -n 1)
    if [ -n "$id" ]; then gh api --silent -X PATCH "$comments/comments/$id" -F body=@"$report"
    else gh api --silent "$comments/$ARENAUT_COMMENT_ON/comments" -F body=@"$report"; fi
fi
exit "$rc"
