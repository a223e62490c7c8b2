# A proxy that holds the requests and answers of another client's main job against the contract. Uploads go past it: it
# decodes every body as UTF-8, which destroys a recording.
from_npm
cp "$JUDGES/tools/openapi-fetch/adapter.ts" .
node_modules/.bin/openapi-typescript "$CONTRACT" -o api.ts
port=$(node -e 'const probe = net.createServer().listen(0, "127.0.0.1", () => {
  console.log(probe.address().port);
  probe.close();
})')
# With --errors a wrong request or answer becomes an error instead of a line in the log.
node_modules/.bin/prism proxy "$CONTRACT" "$API_URL" --errors --host 127.0.0.1 --port "$port" >prism.log 2>&1 &
trap 'kill $!' EXIT
until grep -q 'Prism is listening' prism.log; do
  kill -0 $! || { tail -n 1 prism.log && exit 1; }
  sleep 0.2
done
UPLOAD_URL=$API_URL API_URL=http://127.0.0.1:$port typescript_main_job
