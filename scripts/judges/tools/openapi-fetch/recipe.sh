from_npm
node_modules/.bin/openapi-typescript "$CONTRACT" -o api.ts
typescript_main_job
