# Without hooks, knowing nothing but a key, and that answers are held for 30 s. Of valid requests it can't know which ones
# are refused rightly: a cursor that nobody issued, a file that is no audio.
version=4.32.5
from_pypi "schemathesis==$version"
venv/bin/st run "$CONTRACT" --url "$API_URL" --header "Authorization: Bearer $FUZZED_KEY" --no-color --request-timeout 40 \
  --exclude-checks positive_data_acceptance --report json --report-json-path report.json
cp "$JUDGES/tools/schemathesis/report.py" .
echo "$(venv/bin/python report.py), without hooks"
