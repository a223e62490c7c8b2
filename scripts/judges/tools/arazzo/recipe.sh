# The main job as a consumer's tool reads it from an Arazzo document.
export REDOCLY_SUPPRESS_UPDATE_NOTICE=true REDOCLY_TELEMETRY=off
cp "$CONTRACT" openapi.json
cp "$AUDIO" meeting.wav
"$ROOT/node_modules/.bin/redocly" respect transcribe.arazzo.yaml --input "key=$API_KEY" --server "api=$API_URL" | tee said.txt
grep -q 'Steps: 3 passed, 3 total' said.txt
echo 'uploaded, waited for and read a transcript, as one Arazzo workflow says'
