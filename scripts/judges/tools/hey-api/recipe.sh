from_npm
rm -rf generated
node_modules/.bin/openapi-ts -i "$CONTRACT" -o generated --no-log-file
typescript_main_job
