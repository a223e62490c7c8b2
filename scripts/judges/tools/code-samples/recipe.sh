# The samples of the contract, and the longer one in Python, run as people who copy them do.
from_pypi requests==2.34.2
rm -f sample.*
node -e 'const { paths } = JSON.parse(fs.readFileSync(process.env.CONTRACT));
  for (const { lang, source } of paths["/transcriptions"].post["x-codeSamples"]) fs.writeFileSync(`sample.${lang}`, source)'
[ "$(echo sample.*)" = 'sample.Python sample.Shell sample.TypeScript' ] || { echo "the samples are $(echo sample.*)" && exit 1; }
mv sample.TypeScript sample.mts
cp "$AUDIO" meeting.wav

export API=$API_URL KEY=$API_KEY
text=$(venv/bin/python -W error "$ROOT/scripts/client/python/transcribe.py" meeting.wav)
[ -n "$text" ] || { echo 'scripts/client/python prints nothing' && exit 1; }
for command in 'venv/bin/python -W error sample.Python' 'sh sample.Shell' 'node sample.mts'; do
  printed=$($command)
  [ "$printed" = "$text" ] || { echo "$command prints \"$printed\" instead of \"$text\"" && exit 1; }
done
echo "Shell, Python, TypeScript and scripts/client/python: each uploaded, waited and printed \"${text//$'\n'/ }\""
