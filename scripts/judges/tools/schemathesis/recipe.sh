version=4.32.5
from_pypi "schemathesis==$version"
# In the format of Web Fuzzing Commons.
account() { echo "{\"name\":\"$1\",\"fixedHeaders\":[{\"name\":\"Authorization\",\"value\":\"Bearer $2\"}]}"; }
echo "{\"auth\":[$(account judge "$FUZZED_KEY"),$(account stranger "$STRANGER_KEY")]}" >accounts.json
# A fixed seed, so that CI gives the same answer each time.
seed=20261120 examples=15
[ -n "$QUICK" ] || seed=$RANDOM$RANDOM examples=500
rm -f report.json
export PYTHONPATH=.
venv/bin/st --config-file schemathesis.toml run "$CONTRACT" --url "$API_URL" --no-color \
  --max-examples "$examples" --seed "$seed" --report json --report-json-path report.json
venv/bin/python report.py
echo "$(venv/bin/python report.py), every check, as two accounts, seed $seed"
