from_npm
echo "extends: ['spectral:oas']" >ruleset.yaml
node_modules/.bin/spectral lint "$ROOT/openapi.yaml" --ruleset ruleset.yaml --fail-severity hint
echo 'linted openapi.yaml by its recommended rules, hints as errors, none switched off'
