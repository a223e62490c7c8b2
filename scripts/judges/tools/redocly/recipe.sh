# It looks for newer versions and counts its users otherwise.
export REDOCLY_SUPPRESS_UPDATE_NOTICE=true REDOCLY_TELEMETRY=off
"$ROOT/node_modules/.bin/redocly" lint "$ROOT/openapi.yaml" --extends=recommended-strict --format=json >found.json
node -e 'const { totals } = JSON.parse(fs.readFileSync("found.json"));
  if (totals.errors + totals.warnings > 0) throw new Error(`${totals.errors} errors and ${totals.warnings} warnings`)'
echo 'linted openapi.yaml by its recommended rules, warnings as errors, none switched off'
