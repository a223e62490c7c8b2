# What the recipes in tools/ share. Each runs in a folder of its own below .data/conformance, which keeps what it downloads.
set -euo pipefail

# For what needs a toolchain or a registry. That this machine lacks one is no fault of the service.
fetch() {
  command -v "$1" >/dev/null || { echo "no $1 here" && exit 69; }
  "$@" || exit 69
}

# Installs what package.json names, unless it is there already.
from_npm() {
  ! cmp --silent package.json node_modules/.installed || return 0
  fetch npm install --no-audit --no-fund --no-package-lock --loglevel=error
  cp package.json node_modules/.installed
}

from_pypi() { # requirements
  [ "$(cat venv/.installed 2>/dev/null)" != "$*" ] || return 0
  fetch python3 -m venv --clear venv
  fetch venv/bin/pip install --quiet --disable-pip-version-check "$@"
  echo "$*" >venv/.installed
}

# Compiles the client and the adapter to it with every check that generated code can be held to, and runs the main job.
typescript_main_job() {
  cp "$JUDGES"/tools/typescript/* .
  rm -rf built
  node_modules/.bin/tsc
  node built/main-job.js
}

go_main_job() {
  fetch go get ./...
  go vet ./...
  go build -o driver .
  ./driver
}

# What is there already is not fetched again.
maven() { fetch mvn -B -q "-Dmaven.repo.local=$CACHE/downloads/maven" "$@"; }

# Writes a client into the folder `made`.
openapi_generator() { # language, properties of its generator
  version=7.25.0
  fetch java -version
  maven dependency:copy "-Dartifact=org.openapitools:openapi-generator-cli:$version" "-DoutputDirectory=$CACHE/downloads"
  rm -rf made
  java -jar "$CACHE/downloads/openapi-generator-cli-$version.jar" generate -g "$1" -i "$CONTRACT" -o made \
    "--additional-properties=$2"
}
